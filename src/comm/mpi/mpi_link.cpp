#include "comm/mpi/mpi_link.h"

#include <lockstep/error.h>

#include "comm/flight/flight_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <future>
#include <limits>
#include <thread>

namespace lockstep::comm {

namespace {

/// Groups that are made at the same time must not be confused: a number from the name.
int tag_of(const std::string& group) {
  constexpr auto kMost = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
  return static_cast<int>(group_mark(group) % kMost);
}

MPI_Comm create_communicator(const std::vector<int>& members, int tag) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group ours = MPI_GROUP_NULL;
  MPI_Comm communicator = MPI_COMM_NULL;
  check_mpi(MPI_Comm_group(mpi_world(), &all), "list its world");
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
      "[mpi] not all {} members came to make the group '{}' within {} s: look for one that failed",
      members.size(), group, deadline.seconds());
}

}  // namespace

std::shared_ptr<MpiLink> MpiLink::meet(const std::vector<int>& members, const std::string& group,
                                       const WaitLimit& limit) {
  MpiRuntime& runtime = MpiRuntime::instance();
  { const MpiRuntime::Visit visit = runtime.enter(); }
  // MPI can only make communicators in a call that blocks. A thread of its own lets us give up; if
  // that happens it stays inside MPI until the process ends.
  std::promise<MPI_Comm> promise;
  std::future<MPI_Comm> created = promise.get_future();
  std::thread maker([members, tag = tag_of(group), promise = std::move(promise)]() mutable {
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
      // Open MPI frees it without talking to anybody.
      const MpiRuntime::Visit visit = runtime.enter();
      MPI_Comm communicator = communicator_;
      MPI_Comm_free(&communicator);
    } catch (const Error&) {
      // The runtime was shut: what it holds goes with the process.
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

}  // namespace lockstep::comm
