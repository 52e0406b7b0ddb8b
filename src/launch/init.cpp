#include <lockstep/error.h>
#include <lockstep/init.h>

#include "comm/group_core.h"
#include "launch/process/flight_recorders.h"
#include "launch/rendezvous/join_run.h"

#include <unistd.h>

#include <atomic>

namespace lockstep {

using namespace internal;

namespace {

std::atomic<pid_t> joined_process{0};  ///< a forked child may join another run

Group join(const GroupOptions& options) {
  const Deadline deadline = Deadline::after(options.rendezvous_timeout);
  const launch::Joined joined = launch::join_run(options, deadline);
  comm::use_flight_recorder(launch::own_flight_memory());
  return comm::make_group(joined.world.size() == 1
                              ? launch::make_alone(joined.world, deadline)
                              : comm::make_transport(joined.transport, joined.network, joined.run,
                                                     joined.world, deadline),
                          options, comm::flight_recorder());
}

}  // namespace

Group init(const GroupOptions& options) {
  if (joined_process.exchange(::getpid()) == ::getpid())
    throw UsageError(
        "init() was called a second time in this process: a process joins its run once. Keep the "
        "Group that the first call returned, and copy it to where it is needed");
  try {
    return join(options);
  } catch (...) {
    joined_process = 0;
    throw;
  }
}

}  // namespace lockstep
