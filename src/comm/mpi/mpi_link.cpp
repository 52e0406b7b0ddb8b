#include "comm/mpi/mpi_link.h"

#include <lockstep/error.h>

#include "base/thread.h"
#include "comm/flight/flight_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <future>
#include <limits>

namespace lockstep::internal::comm {

namespace {

/// A number derived from the group's name, so that groups created at the same time are not
/// confused.
int tag_of(const std::string& group) {
  constexpr auto kMost = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
  return static_cast<int>(group_mark(group) % kMost);
}

MPI_Comm create_communicator(const std::vector<int>& members, int tag) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group ours = MPI_GROUP_NULL;
  MPI_Comm communicator = MPI_COMM_NULL;
  check_mpi(MPI_Comm_group(mpi_world(), &all), "list the ranks of its world");
  int code = MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &ours);
  MPI_Group_free(&all);
  check_mpi(code, "name a group's members");
  code = MPI_Comm_create_group(mpi_world(), ours, tag, &communicator);
  MPI_Group_free(&ours);
  check_mpi(code, "make a group's communicator");
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  return communicator;
}

std::string not_made(const std::vector<int>& members, const std::string& group,
                     const Deadline& deadline) {
  return fmt::format(
      "[mpi] not all {} members joined the group '{}' within {} s: look for a rank that failed",
      members.size(), group, deadline.seconds());
}

}  // namespace

std::shared_ptr<MpiLink> MpiLink::meet(const std::vector<int>& members, const std::string& group,
                                       const WaitLimit& limit) {
  MpiRuntime& runtime = MpiRuntime::instance();
  { const MpiRuntime::Visit visit = runtime.enter(); }
  // MPI creates communicators only in a blocking call. A separate thread allows a timeout; after a
  // timeout the thread stays inside MPI until the process ends.
  std::promise<MPI_Comm> promise;
  std::future<MPI_Comm> created = promise.get_future();
  Thread maker("mpi group", [members, tag = tag_of(group), promise = std::move(promise)]() mutable {
    try {
      promise.set_value(create_communicator(members, tag));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  });
  auto is_made = [&] {
    const auto slice = std::min(limit.deadline.left(), WaitLimit::kTick);
    return created.wait_for(slice) == std::future_status::ready;
  };
  try {
    while (!is_made()) {
      limit.check();
      if (limit.deadline.passed()) throw TimeoutError(not_made(members, group, limit.deadline));
    }
  } catch (...) {
    maker.detach();
    runtime.shut(not_made(members, group, limit.deadline));
    throw;
  }
  maker.join();
  return std::shared_ptr<MpiLink>(new MpiLink(created.get(), group));
}

MpiLink::MpiLink(MPI_Comm communicator, std::string group)
    : communicator_(communicator), group_(std::move(group)) {
  MpiRuntime::instance().count_wire(1);
}

MpiLink::~MpiLink() {
  MpiRuntime& runtime = MpiRuntime::instance();
  if (free_ && !closed_) {
    try {
      // Open MPI frees it without communication.
      const MpiRuntime::Visit visit = runtime.enter();
      MPI_Comm communicator = communicator_;
      MPI_Comm_free(&communicator);
    } catch (const Error&) {
      // The runtime was shut down: its resources are freed when the process ends.
    }
  }
  runtime.count_wire(-1);
}

void MpiLink::require_open() const {
  if (closed_) throw Error(fmt::format("[mpi] the connections of group '{}' were closed", group_));
}

MpiRuntime::Visit MpiLink::enter() const {
  require_open();
  return MpiRuntime::instance().enter();
}

void MpiLink::close() {
  closed_ = true;
  MpiRuntime::instance().skip_finalize();
}

}  // namespace lockstep::internal::comm
