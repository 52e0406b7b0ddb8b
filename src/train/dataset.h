// Dataset: a run's training and test images, ready to be loaded batch by batch.
#pragma once

#include "data/loader.h"
#include "train/config.h"

namespace lockstep::train {

struct Dataset {
  data::Loader train;
  data::Loader test;
  std::size_t train_size = 0;
  std::size_t test_size = 0;
};

/// Throws FileError if the data are not there or not sound.
Dataset open_dataset(const TrainConfig& config);

}  // namespace lockstep::train
