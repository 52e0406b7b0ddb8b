// What turns a rank's gradients into an update, as its recipe has it.
#pragma once

#include "engine/engine.h"
#include "optim/optimizer.h"
#include "optim/tensor_range.h"
#include "train/config/config.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep::internal::train {

/// Where each parameter lies, by its number. With `spare_vectors` those that are vectors, biases
/// and batch norm's, are not decayed.
std::vector<optim::TensorRange> tensor_ranges(const engine::Engine& engine,
                                              const sync::Gradients& gradients, bool spare_vectors);

/// The arrays must outlive it.
std::unique_ptr<optim::Optimizer> make_optimizer(const ArrayView& weights,
                                                 const ArrayView& gradients,
                                                 const std::vector<optim::TensorRange>& tensors,
                                                 const TrainConfig& config);

/// By value and by norm, whichever the recipe asks for. REQUIRES: the gradients are those of the
/// whole global batch.
void clip_gradients(const ArrayView& gradients, const std::vector<optim::TensorRange>& tensors,
                    const Recipe& recipe);

/// An optimizer's step count as a checkpoint keeps it, under this name.
inline constexpr std::string_view kOptimizerSteps = "optimizer.steps";
models::StoredTensor steps_of(const optim::Optimizer& optimizer);

/// Throws FileError that names `source` if it is missing (null) or none.
void restore_steps(optim::Optimizer& optimizer, const models::StoredTensor* stored,
                   const std::string& source);

}  // namespace lockstep::internal::train
