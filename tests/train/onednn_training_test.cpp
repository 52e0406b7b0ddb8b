// Runs on the onednn engine: every sync method, checkpoints, and changes to and from the torch
// engine.
#include <lockstep/error.h>

#include "base/files.h"
#include "models/safetensors.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "train/training.h"

#include <gtest/gtest.h>

namespace lockstep::internal::train {
namespace {

class OnednnTraining : public ::testing::Test {
 protected:
  OnednnTraining() {
    config_ = small_job();
    config_.workers = 2;
    config_.engine = "onednn";
  }

  void ask_for_a_step_of_vgg11() {
    config_.model = "vgg11";
    config_.data = "cifar10";
    config_.limit = 8;
    config_.batch = 4;
    config_.epochs = 0;
    config_.iterations = 1;
  }
  /// Trains in a new folder; returns the summary.
  run::Summary train(const TrainConfig& config, const std::string& folder) {
    TrainConfig mine = config;
    mine.run_dir = folder_.path() / folder;
    mine.save = folder_.path() / (folder + ".safetensors");
    return train_on_threads(mine);
  }
  std::vector<double> weights(const std::string& folder) const {
    return weights_in(folder_.path() / (folder + ".safetensors"));
  }

  testing::TemporaryFolder folder_;
  testing::TemporaryFolder cache_;
  const testing::EnvironmentVariable cache_folder_{"XDG_CACHE_HOME", cache_.path().string()};
  TrainConfig config_;
};

TEST_F(OnednnTraining, EndsCloseToTheTorchEngine) {
  const run::Summary ours = train(config_, "ours");
  config_.engine = "torch";
  const run::Summary theirs = train(config_, "theirs");
  EXPECT_EQ(ours.engine, "onednn");
  EXPECT_EQ(theirs.engine, "torch");
  EXPECT_LT(distance(weights("ours"), weights("theirs")), 1e-5);
  EXPECT_NEAR(ours.train_loss, theirs.train_loss, 1e-4);
  EXPECT_NEAR(ours.test_loss, theirs.test_loss, 1e-4);
}

TEST_F(OnednnTraining, EveryMethodEndsWithNearlyTheSameWeights) {
  train(config_, "ddp");
  for (const char* sync : {"gather-scatter", "p2p", "coordinator", "ring"}) {
    config_.sync = sync;
    train(config_, sync);
    EXPECT_LT(distance(weights(sync), weights("ddp")), 1e-5) << sync;
  }
}

TEST_F(OnednnTraining, ResumesWithTheSameBits) {
  config_.epochs = 0;
  config_.iterations = 9;
  config_.checkpoint_every = 5;
  const run::Summary whole = train(config_, "whole");
  config_.iterations = 5;
  train(config_, "parts");
  config_.iterations = 9;
  config_.resume = true;
  EXPECT_EQ(train(config_, "parts").weights_sha256, whole.weights_sha256);
}

TEST_F(OnednnTraining, ResumesFromACheckpointOfTheTorchEngine) {
  config_.epochs = 0;
  config_.iterations = 9;
  config_.checkpoint_every = 5;
  train(config_, "ours");
  config_.engine = "torch";
  config_.iterations = 5;
  train(config_, "both");
  config_.engine = "onednn";
  config_.iterations = 9;
  config_.resume = true;
  train(config_, "both");
  EXPECT_LT(distance(weights("both"), weights("ours")), 1e-5);
}

TEST_F(OnednnTraining, StartsFromSavedWeights) {
  ask_for_a_step_of_vgg11();
  const run::Summary first = train(config_, "first");
  config_.init = folder_.path() / "first.safetensors";
  config_.learning_rate = 0;
  config_.weight_decay = 0;
  EXPECT_EQ(train(config_, "second").weights_sha256, first.weights_sha256);
}

/// The recorded methods if all convolutions use this one.
nlohmann::json with_method(nlohmann::json methods, const std::string& method) {
  for (auto& layer : methods)
    for (auto& pass : layer) pass = method;
  return methods;
}

TEST_F(OnednnTraining, LongResumesWithTheMethodsOfTheFirstStart) {
  ask_for_a_step_of_vgg11();
  config_.checkpoint_every = 1;
  train(config_, "run");
  const std::filesystem::path file = folder_.path() / "run" / "config.json";
  nlohmann::json recorded = nlohmann::json::parse(read_file(file));
  EXPECT_EQ(recorded["conv"], "auto");
  EXPECT_EQ(recorded["conv_methods"].size(), 8u);
  EXPECT_EQ(recorded["conv_methods"]["features.0"]["forward"], "direct");

  // Changes the record: on every machine at least one of these differs from the measured choice.
  config_.iterations = 2;
  config_.resume = true;
  for (const char* method : {"direct", "winograd"}) {
    recorded["conv_methods"] = with_method(recorded["conv_methods"], method);
    write_file(file, recorded.dump());
    train(config_, "run");
    const auto again = nlohmann::json::parse(read_file(file));
    EXPECT_EQ(again["conv_methods"], recorded["conv_methods"]);
    ++config_.iterations;
  }
  // An invalid record is measured again.
  recorded["conv_methods"] = with_method(recorded["conv_methods"], "guessed");
  write_file(file, recorded.dump());
  train(config_, "run");
  const auto again = nlohmann::json::parse(read_file(file));
  EXPECT_EQ(again["conv_methods"]["features.0"]["forward"], "direct");
}

TEST_F(OnednnTraining, RecordsMethodsOnlyIfTheyWereMeasured) {
  config_.convolutions = "fixed";
  train(config_, "run");
  const auto recorded = nlohmann::json::parse(read_file(folder_.path() / "run" / "config.json"));
  EXPECT_EQ(recorded["conv"], "fixed");
  EXPECT_TRUE(recorded["conv_methods"].is_null());
}

TEST_F(OnednnTraining, RefusesFloat64) {
  config_.dtype = "float64";
  testing::expect_error<UsageError>([&] { config_.validate(); },
                                    {"--engine onednn", "float32 only", "--engine torch"});
}

}  // namespace
}  // namespace lockstep::internal::train
