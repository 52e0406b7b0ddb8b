#include "train/dataset.h"

#include "data/image_set.h"

namespace lockstep::train {

Dataset open_dataset(const TrainConfig& config) {
  const data::ImageSet set =
      data::open_image_set({.name = config.data, .folder = config.data_dir, .limit = config.limit});
  std::optional<data::Augmentation> augmentation;
  if (config.augment) augmentation.emplace().seed = config.seed;
  return {data::Loader(set.train, set.normalisation, set.padding, augmentation),
          data::Loader(set.test, set.normalisation, set.padding), set.train->size(),
          set.test->size()};
}

}  // namespace lockstep::train
