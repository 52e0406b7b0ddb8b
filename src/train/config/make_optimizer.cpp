#include "train/config/make_optimizer.h"

#include <lockstep/error.h>

#include "optim/clipping.h"
#include "optim/optimizers.h"

#include <fmt/format.h>

#include <cstring>
#include <set>

namespace lockstep::internal::train {

namespace {

template <typename T>
std::span<T> elements(const ArrayView& array) {
  return {static_cast<T*>(array.data), array.count};
}

template <typename T>
void clip(std::span<T> gradients, const std::vector<optim::TensorRange>& tensors,
          const Recipe& recipe) {
  if (recipe.clip_value > 0) optim::clip_values<T>(gradients, recipe.clip_value);
  if (recipe.clip > 0) optim::clip_norm<T>(gradients, tensors, recipe.clip);
}

}  // namespace

std::vector<optim::TensorRange> tensor_ranges(const engine::Engine& engine,
                                              const sync::Gradients& gradients,
                                              bool spare_vectors) {
  std::set<std::string> spared;
  if (spare_vectors)
    for (const models::StoredTensor& tensor : engine.parameter_state())
      if (tensor.shape.size() <= 1) spared.insert(tensor.name);
  std::vector<optim::TensorRange> tensors;
  for (std::size_t i = 0; i < gradients.parameters().size(); ++i) {
    const sync::Slot& slot = gradients.layout().slots()[i];
    tensors.push_back({slot.begin, slot.count, !spared.contains(gradients.parameters()[i].name)});
  }
  return tensors;
}

std::unique_ptr<optim::Optimizer> make_optimizer(const ArrayView& weights,
                                                 const ArrayView& gradients,
                                                 const std::vector<optim::TensorRange>& tensors,
                                                 const TrainConfig& config) {
  const Recipe& recipe = config.recipe;
  const optim::OptimizerOptions options{.name = recipe.optimizer,
                                        .learning_rate = config.full_rate(),
                                        .weight_decay = config.weight_decay,
                                        .momentum = config.momentum,
                                        .nesterov = config.nesterov,
                                        .beta1 = recipe.beta1,
                                        .beta2 = recipe.beta2,
                                        .epsilon = recipe.epsilon,
                                        .trust = recipe.trust};
  if (weights.type == DataType::float32)
    return optim::make_optimizer<float>(
        {elements<float>(weights), elements<float>(gradients), tensors}, options);
  return optim::make_optimizer<double>(
      {elements<double>(weights), elements<double>(gradients), tensors}, options);
}

void clip_gradients(const ArrayView& gradients, const std::vector<optim::TensorRange>& tensors,
                    const Recipe& recipe) {
  if (gradients.type == DataType::float32)
    clip(elements<float>(gradients), tensors, recipe);
  else
    clip(elements<double>(gradients), tensors, recipe);
}

models::StoredTensor steps_of(const optim::Optimizer& optimizer) {
  const auto steps = static_cast<std::int64_t>(optimizer.steps());
  const auto* bytes = reinterpret_cast<const std::byte*>(&steps);
  return {std::string(kOptimizerSteps), DataType::int64, {1}, {bytes, bytes + sizeof(steps)}};
}

void restore_steps(optim::Optimizer& optimizer, const models::StoredTensor* stored,
                   const std::string& source) {
  std::int64_t steps = -1;
  if (stored && stored->type == DataType::int64 && stored->data.size() == sizeof(steps))
    std::memcpy(&steps, stored->data.data(), sizeof(steps));
  if (steps < 0)
    throw FileError(fmt::format("{}: '{}' is missing or does not fit", source, kOptimizerSteps));
  optimizer.set_steps(static_cast<std::uint64_t>(steps));
}

}  // namespace lockstep::internal::train
