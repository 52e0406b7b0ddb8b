// A batch for the tests of this folder.
#pragma once

#include "base/random.h"
#include "data/loader.h"

namespace lockstep::internal::engine {

/// Random images and labels of ten classes, always the same.
inline data::Batch random_batch(const data::ImageShape& shape, std::size_t size) {
  Random random(7);
  data::Batch batch;
  for (std::size_t i = 0; i < size * shape.pixels(); ++i)
    batch.pixels.push_back(static_cast<float>(2 * random.uniform() - 1));
  for (std::size_t i = 0; i < size; ++i)
    batch.labels.push_back(static_cast<std::int64_t>(random.below(10)));
  return batch;
}

}  // namespace lockstep::internal::engine
