// The plan of a rank without images. If batch norm is over all ranks, the others wait for its
// messages.
#pragma once

#include "engine/onednn/plan/builder.h"

namespace lockstep::internal::engine::onednn {

/// Sends all messages of the layers, in the order of plan_graph(). Backward reports which
/// parameters are ready, but the caller must clear the gradients of layers without messages.
/// REQUIRES: the layouts are decided.
Draft plan_empty_batch(const dnnl::engine& engine, const LayerGraph& graph, Layouts& layouts);

/// Whether there are layers with messages.
bool normalises_together(const LayerGraph& graph);

}  // namespace lockstep::internal::engine::onednn
