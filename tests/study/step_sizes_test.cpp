// The sizes of the arrays that a step all-reduces.
#include "study/step_sizes.h"

#include "support/temporary_folder.h"
#include "train/training.h"

#include <gtest/gtest.h>

namespace lockstep::internal::study {
namespace {

TEST(StepSizes, AreOneArrayPerParameterForAllReduce) {
  const testing::TemporaryFolder folder;
  train::TrainConfig config = train::small_job();
  config.engine = "torch";  // adds no padding
  config.workers = 2;
  config.iterations = 2;
  config.sync = "all-reduce";
  config.run_dir = folder.path();
  const run::Summary summary = train::train_on_threads(config);
  int arrays = 0;
  std::size_t bytes = 0;
  for (const auto& [size, count] : step_sizes_of(summary, folder.path())) {
    arrays += count;
    bytes += size * static_cast<std::size_t>(count);
  }
  EXPECT_EQ(arrays, 10);
  EXPECT_EQ(bytes, 61706 * sizeof(float));
}

TEST(StepSizes, AreAllGradientsAtOnceWithoutATrace) {
  const testing::TemporaryFolder folder;
  run::Summary summary;
  summary.sync = "ddp";
  summary.workers = 4;
  summary.bytes_per_iteration = 1.5 * 4096;
  EXPECT_EQ(step_sizes_of(summary, folder.path()), (StepSizes{{4096, 1}}));
  summary.bytes_per_iteration = 0;
  EXPECT_EQ(step_sizes_of(summary, folder.path()), StepSizes{});
}

}  // namespace
}  // namespace lockstep::internal::study
