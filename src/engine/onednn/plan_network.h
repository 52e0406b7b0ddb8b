// From a network and a batch size to a plan.
#pragma once

#include "engine/onednn/builder.h"
#include "engine/onednn/network.h"

namespace lockstep::engine::onednn {

/// Decides the layouts of those parameters that have none yet. Throws UsageError that names a layer
/// whose input does not fit it.
Draft plan_network(const dnnl::engine& engine, const Network& network, const PlanOptions& options,
                   Layouts& layouts);

}  // namespace lockstep::engine::onednn
