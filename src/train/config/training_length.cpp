#include "train/config/training_length.h"

#include "data/sampler.h"
#include "train/config/dataset.h"

#include <algorithm>
#include <limits>

namespace lockstep::internal::train {

std::size_t planned_iterations(const TrainConfig& config, std::size_t batches_per_epoch) {
  constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
  const std::size_t by_epochs = config.epochs > 0 ? config.epochs * batches_per_epoch : kUnlimited;
  return std::min(by_epochs, config.iterations > 0 ? config.iterations : kUnlimited);
}

optim::Schedule make_schedule(const TrainConfig& config, std::size_t batches_per_epoch) {
  return {config.full_rate(),
          optim::parse_shape(config.recipe.schedule),
          {planned_iterations(config, batches_per_epoch), batches_per_epoch, config.recipe.warmup}};
}

void require_possible_schedule(const TrainConfig& config) {
  if (config.recipe.warmup == 0 || config.iterations == 0) return;
  const data::Sampler sampler(
      {.count = open_dataset(config).train_size, .batch = config.batch, .seed = config.seed});
  make_schedule(config, sampler.batches_per_epoch());
}

}  // namespace lockstep::internal::train
