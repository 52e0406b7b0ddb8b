// Runs with invalid input: each ends with an error that names the remedy, and without a summary.
#include <lockstep/error.h>

#include "models/safetensors.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "train/training.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::internal::train {
namespace {

class BadInput : public ::testing::Test {
 protected:
  BadInput() : config_(small_job()) {
    config_.workers = 2;
    config_.run_dir = folder_.path() / "run";
  }

  template <typename E>
  void expect_refused(std::initializer_list<std::string_view> parts) {
    testing::expect_error<E>([&] { train_on_threads(config_); }, parts);
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "run" / "summary.json"));
  }

  testing::TemporaryFolder folder_;
  TrainConfig config_;
};

TEST_F(BadInput, MissingDataAreNamed) {
  config_.data_dir = folder_.path() / "nowhere";
  expect_refused<FileError>({config_.data_dir.string()});
}

TEST_F(BadInput, WeightsOfAnotherModelAreNamedByTensor) {
  config_.init = folder_.path() / "other.safetensors";
  models::write_safetensors(config_.init, {{"features.0.weight", DataType::uint8, {0}, {}}});
  expect_refused<Error>({config_.init.string(), "tensor features.0.weight has shape [0]",
                         "the model's has [6, 1, 5, 5]"});
}

TEST_F(BadInput, MissingWeightsAreNamed) {
  config_.init = folder_.path() / "missing.safetensors";
  expect_refused<FileError>({config_.init.string(), "No such file"});
}

TEST_F(BadInput, ARunFolderBelowAFileIsRefused) {
  config_.run_dir = folder_.write("file", "") / "run";
  expect_refused<FileError>({config_.run_dir.string(), "cannot make this folder"});
}

TEST_F(BadInput, WeightsThatCannotBeWrittenFailTheRun) {
  config_.save = folder_.path() / "nowhere" / "weights.safetensors";
  expect_refused<FileError>({config_.save.string(), "cannot create"});
}

TEST_F(BadInput, ABatchSmallerThanTheWorkersIsRefused) {
  config_.batch = 1;
  expect_refused<UsageError>({"--batch is 1, less than the 2 workers"});
}

TEST_F(BadInput, UnknownNamesAreErrorsThatListTheKnownOnes) {
  auto expect_unknown = [this](std::string TrainConfig::*field,
                               std::initializer_list<std::string_view> parts) {
    const TrainConfig kept = config_;
    config_.*field = "nonsense";
    expect_refused<UsageError>(parts);
    config_ = kept;
  };
  expect_unknown(&TrainConfig::model, {"--model is 'nonsense'", "lenet5"});
  expect_unknown(&TrainConfig::data, {"--data is 'nonsense'", "mnist"});
  expect_unknown(&TrainConfig::transport, {"--transport is 'nonsense'", "thread"});
  expect_unknown(&TrainConfig::engine, {"--engine is 'nonsense'", "auto", "torch"});
  expect_unknown(&TrainConfig::convolutions, {"--conv is 'nonsense'", "auto, fixed and direct"});
  expect_unknown(&TrainConfig::dtype, {"--dtype is 'nonsense'", "float32 and float64"});
  expect_unknown(&TrainConfig::sync, {"unknown sync method 'nonsense'", "gather-scatter, p2p"});
  expect_unknown(&TrainConfig::algorithm, {"nonsense", "ring"});
}

TEST_F(BadInput, InvalidNumbersAreRefused) {
  auto expect_number = [this](auto field, auto value, std::string_view part) {
    const TrainConfig kept = config_;
    config_.*field = value;
    testing::expect_error<UsageError>([&] { config_.validate(); }, {part});
    config_ = kept;
  };
  expect_number(&TrainConfig::workers, 0, "--workers is 0");
  expect_number(&TrainConfig::workers, 1025, "--workers is 1025");
  expect_number(&TrainConfig::threads, -1, "--threads is -1");
  expect_number(&TrainConfig::epochs, 0, "nothing to train");
  expect_number(&TrainConfig::bucket_mb, 0, "--bucket-mb");
  expect_number(&TrainConfig::first_bucket_mb, -1, "--first-bucket-mb");
  expect_number(&TrainConfig::learning_rate, std::nan(""), "--lr");
  expect_number(&TrainConfig::learning_rate, -1, "--lr");
  expect_number(&TrainConfig::momentum, -1, "--momentum");
  expect_number(&TrainConfig::weight_decay, -1, "--weight-decay");
}

TEST_F(BadInput, NesterovNeedsMomentum) {
  config_.nesterov = true;
  config_.validate();
  config_.momentum = 0;
  testing::expect_error<UsageError>([&] { config_.validate(); }, {"--nesterov", "--momentum"});
}

TEST(ArraySplitOptions, RefusesWhatMovesImagesBetweenWorkers) {
  TrainConfig config = small_job();
  config.workers = 2;
  config.split = "array";
  EXPECT_NO_THROW(config.validate());
  TrainConfig shards = config, balance = config, mistake = config, elastic = config;
  shards.shards = 4;
  balance.policy.balance = true;
  mistake.mistake = "same-order";
  elastic.transport = "shm";
  elastic.shards = 2;
  elastic.elastic = true;
  for (const auto& [wrong, why] :
       {std::pair(shards, "--shards gives the same bits on any number of workers"),
        std::pair(balance, "--balance moves images to faster workers"),
        std::pair(mistake, "--mistake needs batches of all images"),
        std::pair(elastic, "--elastic gives the images of a lost worker to others")})
    testing::expect_error<UsageError>(
        [&, wrong = wrong] { wrong.validate(); },
        {"--split array keeps every image on one worker", why, "leave out one of them"});
}

}  // namespace
}  // namespace lockstep::internal::train
