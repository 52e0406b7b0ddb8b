// The plan of a rank that has no images while others have: where batch norm is over all ranks, they
// need it.
#pragma once

#include "engine/onednn/builder.h"

namespace lockstep::engine::onednn {

/// Takes part in all that the layers send, in the order of plan_network(). Backward says which
/// parameters are ready, but the gradients of layers that send nothing are the caller's to clear.
/// REQUIRES: the layouts are decided.
Draft plan_empty_batch(const dnnl::engine& engine, const Network& network, Layouts& layouts);

/// Whether there are layers that send.
bool normalises_together(const Network& network);

}  // namespace lockstep::engine::onednn
