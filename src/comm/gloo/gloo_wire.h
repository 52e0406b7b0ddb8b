// The wire of the gloo transport: Gloo's TCP pairs, one between every two ranks.
//
// Gloo's own connection setup would accept any process that connects first. Lockstep bypasses it:
// every pair gets a connection that has been authenticated with the run's token.
#pragma once

#include "comm/mesh/mesh_transport.h"

namespace lockstep::internal::comm {

/// Whether this build has Gloo. If not, making a wire throws UsageError.
bool gloo_built();

WireKind gloo_wire();

}  // namespace lockstep::internal::comm
