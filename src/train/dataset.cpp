#include "train/dataset.h"

#include "data/image_set.h"

#include <chrono>

namespace lockstep::train {

Dataset open_dataset(const TrainConfig& config) {
  const data::ImageSet set =
      data::open_image_set({.name = config.data, .folder = config.data_dir, .limit = config.limit});
  std::optional<data::Augmentation> augmentation;
  if (config.augment) augmentation.emplace().seed = config.seed;
  const data::Loader train(set.train, set.normalisation, set.padding, augmentation);
  return {train.slowed(std::chrono::duration<double, std::milli>(config.slow_data)),
          data::Loader(set.test, set.normalisation, set.padding), set.train->size(),
          set.test->size()};
}

}  // namespace lockstep::train
