#include "train/config/dataset.h"

#include "base/hash/quick_hash.h"
#include "data/image_set.h"

#include <fmt/format.h>

#include <chrono>
#include <span>

namespace lockstep::internal::train {

namespace {

std::uint64_t checksum(const std::vector<std::uint8_t>& bytes) {
  return quick_hash(std::as_bytes(std::span(bytes)));
}

void describe(const data::Images& images, const char* split, std::vector<std::string>& lines) {
  const data::ImageShape& shape = images.shape;
  lines.push_back(fmt::format("{} {} images of {}×{}×{} in {} classes", images.size(), split,
                              shape.channels, shape.height, shape.width, images.classes));
  lines.push_back(fmt::format("{} labels of checksum {:016x}", split, checksum(images.labels)));
  lines.push_back(fmt::format("{} pixels of checksum {:016x}", split, checksum(images.pixels)));
}

}  // namespace

Dataset open_dataset(const TrainConfig& config) {
  const data::ImageSet set =
      data::open_image_set({.name = config.data, .folder = config.data_dir, .limit = config.limit});
  std::optional<data::Augmentation> augmentation;
  if (config.augment) augmentation.emplace().seed = config.seed;
  const data::Loader train(set.train, set.normalisation, set.padding, augmentation);
  return {train.slowed(std::chrono::duration<double, std::milli>(config.slow_data)),
          data::Loader(set.test, set.normalisation, set.padding),
          set.train->size(),
          set.test->size(),
          set.train,
          set.test};
}

std::vector<std::string> describe(const Dataset& dataset) {
  std::vector<std::string> lines;
  describe(*dataset.train_images, "training", lines);
  describe(*dataset.test_images, "test", lines);
  return lines;
}

}  // namespace lockstep::internal::train
