// Plans a layer graph for a batch size.
#pragma once

#include "engine/onednn/plan/builder.h"
#include "engine/onednn/plan/layer_graph.h"

namespace lockstep::internal::engine::onednn {

/// Decides the layouts of parameters that have none yet. Throws UsageError that names a layer whose
/// input has an unsupported shape.
Draft plan_graph(const dnnl::engine& engine, const LayerGraph& graph, const PlanOptions& options,
                 Layouts& layouts);

}  // namespace lockstep::internal::engine::onednn
