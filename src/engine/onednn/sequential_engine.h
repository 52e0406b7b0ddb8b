// The onednn engine for a user's Sequential.
#pragma once

#include "engine/onednn/onednn_engine.h"

#include <torch/torch.h>

namespace lockstep::internal::engine {

/// Throws UsageError that names the first unsupported layer. Makes no plan, so it is fast.
void require_plan_for(torch::nn::Sequential model, const data::ImageShape& images);

/// Starts with the model's weights; parameter_state() copies the trained ones back into it.
/// `options.model`, `seed` and `batch_norm_group` are not used: a SyncBatchNorm has its own group.
/// Throws UsageError that names the first unsupported layer.
std::unique_ptr<Engine> make_onednn_engine(torch::nn::Sequential model,
                                           const OnednnEngineOptions& options);

}  // namespace lockstep::internal::engine
