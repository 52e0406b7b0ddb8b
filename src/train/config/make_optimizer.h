// The optimizer of a run, as its recipe configures it.
#pragma once

#include "engine/engine.h"
#include "optim/optimizer.h"
#include "optim/tensor_range.h"
#include "train/config/config.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep::internal::train {

/// The range of each parameter, by its number. With `spare_vectors`, vectors (biases and the
/// parameters of batch norm) have no weight decay.
std::vector<optim::TensorRange> tensor_ranges(const engine::Engine& engine,
                                              const sync::Gradients& gradients, bool spare_vectors);

/// The arrays must outlive the optimizer.
std::unique_ptr<optim::Optimizer> make_optimizer(const ArrayView& weights,
                                                 const ArrayView& gradients,
                                                 const std::vector<optim::TensorRange>& tensors,
                                                 const TrainConfig& config);

/// Clips by value, by norm or by both, as the recipe says. REQUIRES: the gradients are those of the
/// whole global batch.
void clip_gradients(const ArrayView& gradients, const std::vector<optim::TensorRange>& tensors,
                    const Recipe& recipe);

/// An optimizer's step count as a checkpoint stores it, and its name there.
inline constexpr std::string_view kOptimizerSteps = "optimizer.steps";
models::StoredTensor steps_of(const optim::Optimizer& optimizer);

/// Throws FileError that names `source` if it is missing (null) or not a step count.
void restore_steps(optim::Optimizer& optimizer, const models::StoredTensor* stored,
                   const std::string& source);

}  // namespace lockstep::internal::train
