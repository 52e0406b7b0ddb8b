#include <lockstep/init.h>

#include "comm/group_core.h"
#include "comm/shared/shared_transport.h"
#include "comm/thread/thread_space.h"
#include "launch/flight_recorders.h"
#include "launch/join.h"

namespace lockstep {

namespace {

/// A world of one needs no rendezvous.
std::unique_ptr<comm::Transport> make_alone(const comm::Membership& world,
                                            const Deadline& deadline) {
  auto space =
      std::make_unique<comm::ThreadSpace>(std::make_shared<comm::ThreadWorld>(world.labels));
  return std::make_unique<comm::SharedTransport>(std::move(space), world, deadline);
}

}  // namespace

Group init(const GroupOptions& options) {
  const Deadline deadline = Deadline::after(options.rendezvous_timeout);
  const launch::Joined joined = launch::join_run(options, deadline);
  comm::use_flight_recorder(launch::own_flight_memory());
  return comm::make_group(joined.world.size() == 1
                              ? make_alone(joined.world, deadline)
                              : comm::make_transport(joined.transport, joined.network, joined.run,
                                                     joined.world, deadline),
                          options, comm::flight_recorder());
}

}  // namespace lockstep
