#include "train/dataset.h"

#include "data/image_set.h"

namespace lockstep::train {

Dataset open_dataset(const TrainConfig& config) {
  const data::ImageSet set =
      data::open_image_set({.name = config.data, .folder = config.data_dir, .limit = config.limit});
  return {data::Loader(set.train, set.normalisation, set.padding),
          data::Loader(set.test, set.normalisation, set.padding), set.train->size(),
          set.test->size()};
}

}  // namespace lockstep::train
