// Dataset: a run's training and test images, ready to be loaded batch by batch.
#pragma once

#include "data/images.h"
#include "data/loader.h"
#include "train/config/config.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep::internal::train {

struct Dataset {
  data::Loader train;
  data::Loader test;
  std::size_t train_size = 0;
  std::size_t test_size = 0;
  std::shared_ptr<const data::Images> train_images;
  std::shared_ptr<const data::Images> test_images;
};

/// Throws FileError if the data are missing or damaged.
Dataset open_dataset(const TrainConfig& config);

/// A description that is equal for equal data, in lines: numbers, sizes, and checksums of all
/// pixels and labels. Reads every byte once.
std::vector<std::string> describe(const Dataset& dataset);

}  // namespace lockstep::internal::train
