// The wire of the gloo transport: Gloo's TCP pairs, one between every two ranks.
//
// Gloo would make its connections by itself, and take whoever connects first for the peer. It does
// not get to: every pair is handed a connection that has proved the run's token.
#pragma once

#include "comm/mesh/mesh_transport.h"

namespace lockstep::comm {

/// Whether this build has Gloo. If not, making such a wire throws UsageError.
bool gloo_built();

WireKind gloo_wire();

}  // namespace lockstep::comm
