// --split array: each worker trains on its own part of the images.
#include <lockstep/error.h>

#include "train/checkpointed_runs.h"

#include <gtest/gtest.h>

namespace lockstep::internal::train {
namespace {

class ArraySplit : public CheckpointTest {
 protected:
  ArraySplit() {
    config_.augment = false;
    config_.split = "array";
  }
};

TEST_F(ArraySplit, OneWorkerTrainsAsUsual) {
  config_.workers = 1;
  const run::Summary array = train("array", 8);
  config_.split = "sampler";
  EXPECT_EQ(array.weights_sha256, train("sampler", 8).weights_sha256);
}

TEST_F(ArraySplit, SeveralWorkersHaveTheirPartsInEveryEpoch) {
  config_.workers = 3;
  const run::Summary array = train("array", 14);
  std::vector<std::size_t> images(3);
  for (const nlohmann::json& line : metrics_of(run_dir("array"), "epoch"))
    if (line.at("epoch") == 2) images[line.at("rank")] += line.at("samples").get<std::size_t>();
  EXPECT_EQ(images, (std::vector<std::size_t>{34, 33, 33}));
  for (const run::RankSummary& rank : array.ranks)
    EXPECT_EQ(rank.weights_sha256, array.weights_sha256);
  config_.split = "sampler";
  EXPECT_NE(array.weights_sha256, train("sampler", 14).weights_sha256);
}

TEST_F(ArraySplit, AResumedRunEndsWithTheSameBits) {
  const run::Summary whole = train("whole", 19);
  train("halves", 12);
  EXPECT_EQ(train("halves", 19, true).weights_sha256, whole.weights_sha256);
}

TEST_F(ArraySplit, IsResumedWithTheSameSplitAndWorkersOnly) {
  train("run", 5);
  config_.workers = 3;
  testing::expect_error<UsageError>([&] { train("run", 19, true); },
                                    {"was made with --workers 2, not 3"});
  config_.split = "sampler";
  testing::expect_error<UsageError>([&] { train("run", 19, true); },
                                    {"was made with --split array, not sampler"});
}

}  // namespace
}  // namespace lockstep::internal::train
