// The onednn engine for a network of one's own.
#pragma once

#include "engine/onednn/onednn_engine.h"

#include <torch/torch.h>

namespace lockstep::engine {

/// Throws UsageError that names the first layer that no plan can hold. Costs next to nothing.
void require_plan_for(torch::nn::Sequential model, const data::ImageShape& images);

/// Begins with the model's weights; parameter_state() copies those that were learnt back into it.
/// `options.model`, `seed` and `batch_norm_group` are not used: SyncBatchNorm has a group of its
/// own. Throws UsageError that names the first layer that no plan can hold.
std::unique_ptr<Engine> make_onednn_engine(torch::nn::Sequential model,
                                           const OnednnEngineOptions& options);

}  // namespace lockstep::engine
