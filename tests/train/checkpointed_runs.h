// The fixture of tests that train with checkpoints and resume.
#pragma once

#include "base/files.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "train/checkpoint/checkpoint.h"
#include "train/training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::internal::train {

/// Trains LeNet-5 on two ranks, seven batches an epoch, with a checkpoint every 5 iterations.
class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() {
    config_ = small_job();
    config_.workers = 2;
    config_.epochs = 0;
    config_.iterations = 19;
    config_.augment = true;
    config_.checkpoint_every = 5;
  }

  std::filesystem::path run_dir(const std::string& name) const { return folder_.path() / name; }

  /// Trains that many iterations in a folder and returns the summary.
  run::Summary train(const std::string& folder, std::size_t iterations, bool resume = false) {
    TrainConfig config = config_;
    config.run_dir = run_dir(folder);
    config.iterations = iterations;
    config.resume = resume;
    return train_on_threads(config);
  }

  std::vector<std::string> checkpoints(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(run_dir(folder) / "checkpoints"))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  testing::TemporaryFolder folder_;
  TrainConfig config_;
};

}  // namespace lockstep::internal::train
