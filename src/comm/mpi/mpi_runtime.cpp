#include "comm/mpi/mpi_runtime.h"

#include <lockstep/error.h>

#include "comm/mpi/mpi_calls.h"
#include "comm/work_state.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <vector>

namespace lockstep::internal::comm {

namespace {

constexpr int kNoFinalize = 1;  // tag of the empty message "I will not call MPI_Finalize"

MPI_Comm world = MPI_COMM_NULL;  // set once, by the runtime's constructor

/// Whether the user's program has started MPI. Throws Error if it has already finalized it.
bool started_by_program() {
  int finalized = 0;
  int initialized = 0;
  MPI_Finalized(&finalized);
  MPI_Initialized(&initialized);
  if (finalized != 0)
    throw UsageError(
        "the program has already called MPI_Finalize: call it after the last group is gone");
  return initialized != 0;
}

void require_threads(int provided) {
  if (provided >= MPI_THREAD_MULTIPLE) return;
  throw UsageError(
      fmt::format("the transport mpi needs MPI_THREAD_MULTIPLE (level {}), but MPI has level {}: "
                  "call MPI_Init_thread with MPI_THREAD_MULTIPLE, or let Lockstep start MPI",
                  static_cast<int>(MPI_THREAD_MULTIPLE), provided));
}

/// Broadcasts on the world from rank 0, with a deadline.
void broadcast_bytes(void* bytes, std::size_t count, const Deadline& deadline) {
  MpiRuntime& runtime = MpiRuntime::instance();
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const MpiRuntime::Visit visit = runtime.enter();
    check_mpi(MPI_Ibcast(bytes, static_cast<int>(count), MPI_BYTE, 0, world, &request),
              "broadcast the rendezvous");
  }
  auto done = [&] { return test_request(request, "broadcast the rendezvous"); };
  if (poll(done, deadline.left())) return;
  const std::string what = fmt::format(
      "not all {} processes of this MPI job reached the rendezvous within {} s: "
      "look for a process that failed or did not call init",
      runtime.world_size(), deadline.seconds());
  runtime.shut(what);
  throw TimeoutError(what);
}

}  // namespace

bool mpi_built() {
  return true;
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "MPI of unknown version";
  return {text, static_cast<std::size_t>(length)};
}

MPI_Comm mpi_world() {
  return world;
}

MpiRuntime& MpiRuntime::instance() {
  // Never destroyed: groups may outlive any static object.
  static MpiRuntime* const runtime = new MpiRuntime;
  return *runtime;
}

MpiRuntime::MpiRuntime() {
  int provided = MPI_THREAD_SINGLE;
  if (started_by_program()) {
    MPI_Query_thread(&provided);
  } else {
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "start");
    started_here_ = true;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  require_threads(provided);
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &world), "copy its communicator");
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, &rank_);
  MPI_Comm_size(world, &size_);
  if (started_here_) std::atexit(&MpiRuntime::at_exit);
}

void MpiRuntime::at_exit() {
  MpiRuntime& runtime = instance();
  // A forked child must not end its parent's connection.
  if (!runtime.owner_.is_this_one()) return;
  if (runtime.wires_ != 0) runtime.skip_finalize();
  if (runtime.finalize_ && runtime.all_will_finalize()) MPI_Finalize();
}

void MpiRuntime::skip_finalize() noexcept {
  // Peers wait for this process only if Lockstep finalizes MPI.
  if (!finalize_.exchange(false) || !started_here_) return;
  try {
    warn_peers();
  } catch (const Error&) {
    // An unreachable peer does not wait either.
  }
}

void MpiRuntime::warn_peers() {
  std::vector<MPI_Request> requests(static_cast<std::size_t>(size_), MPI_REQUEST_NULL);
  {
    const Visit visit = enter();
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_)
        MPI_Isend(nullptr, 0, MPI_BYTE, peer, kNoFinalize, world,
                  &requests[static_cast<std::size_t>(peer)]);
  }
  auto sent = [&] {
    const Visit visit = enter();
    int done = 0;
    check_mpi(MPI_Testall(size_, requests.data(), &done, MPI_STATUSES_IGNORE), "warn peers");
    return done != 0;
  };
  poll(sent, kAbandonTime);  // empty messages have no array that MPI could still access
}

/// Waits until every peer has arrived here, or one has announced that it will not.
bool MpiRuntime::all_will_finalize() {
  MPI_Request barrier = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(world, &barrier) != MPI_SUCCESS) return false;
  Backoff backoff;
  for (;;) {
    int here = 0;
    int warned = 0;
    if (MPI_Test(&barrier, &here, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (here != 0) return true;
    if (MPI_Iprobe(MPI_ANY_SOURCE, kNoFinalize, world, &warned, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return false;
    if (warned != 0) return false;
    backoff.pause();
  }
}

std::string MpiRuntime::broadcast(std::string from_rank_zero, const Deadline& deadline) {
  std::uint64_t length = from_rank_zero.size();
  broadcast_bytes(&length, sizeof length, deadline);
  if (length > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    throw InternalError(fmt::format("a rendezvous of {} bytes is too long", length));
  from_rank_zero.resize(length);
  broadcast_bytes(from_rank_zero.data(), length, deadline);
  return from_rank_zero;
}

MpiRuntime::Visit MpiRuntime::enter() {
  if (!owner_.is_this_one()) throw_in_child("MPI");
  Visit visit(door_);
  if (!shut_because_.empty())
    throw Error(fmt::format("MPI cannot be used any more in this process: {}", shut_because_));
  return visit;
}

void MpiRuntime::shut(const std::string& why) {
  skip_finalize();
  const std::unique_lock lock(door_);
  if (shut_because_.empty()) shut_because_ = why;
}

}  // namespace lockstep::internal::comm
