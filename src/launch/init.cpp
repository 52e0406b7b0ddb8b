#include <lockstep/init.h>

#include "comm/group_core.h"
#include "launch/flight_recorders.h"
#include "launch/join.h"

namespace lockstep {

Group init(const GroupOptions& options) {
  const Deadline deadline = Deadline::after(options.rendezvous_timeout);
  const launch::Joined joined = launch::join_run(options, deadline);
  comm::use_flight_recorder(launch::own_flight_memory());
  return comm::make_group(joined.world.size() == 1
                              ? launch::make_alone(joined.world, deadline)
                              : comm::make_transport(joined.transport, joined.network, joined.run,
                                                     joined.world, deadline),
                          options, comm::flight_recorder());
}

}  // namespace lockstep
