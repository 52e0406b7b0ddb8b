// A run that stopped and went on ends with the same bits as one that never stopped.
#include "train/checkpoint/checkpoint.h"

#include <lockstep/error.h>

#include "base/deadline.h"
#include "base/files.h"
#include "base/unique_fd.h"
#include "models/checksum.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "train/training.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>

namespace lockstep::internal::train {
namespace {

/// Seven batches an epoch.
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

  /// The summary of a run of so many iterations in a folder.
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

TEST_F(CheckpointTest, GoesOnAsIfTheRunHadNeverStopped) {
  const run::Summary whole = train("whole", 19);
  train("halves", 12);
  EXPECT_EQ(checkpoints("halves"), (std::vector<std::string>{"iteration-00000005.safetensors",
                                                             "iteration-00000010.safetensors"}));
  const run::Summary resumed = train("halves", 19, true);
  EXPECT_EQ(resumed.weights_sha256, whole.weights_sha256);
  EXPECT_EQ(resumed.iterations, 19u);
  EXPECT_EQ(resumed.epochs, 3u);
  EXPECT_EQ(resumed.test_loss, whole.test_loss);
}

TEST_F(CheckpointTest, TheScoresAreThoseOfTheWholeLastEpoch) {
  const run::Summary whole = train("whole", 19);  // the last epoch begins with 15
  train("halves", 17);
  const run::Summary resumed = train("halves", 19, true);
  EXPECT_DOUBLE_EQ(resumed.train_loss, whole.train_loss);
  EXPECT_DOUBLE_EQ(resumed.train_accuracy, whole.train_accuracy);
  EXPECT_DOUBLE_EQ(resumed.ranks[1].train_loss, whole.ranks[1].train_loss);
  const auto epochs = metrics_of(run_dir("halves"), "epoch");
  EXPECT_EQ(epochs.back().at("samples"),
            metrics_of(run_dir("whole"), "epoch").back().at("samples"));

  train("shrunk", 17);
  config_.workers = 1;
  EXPECT_NEAR(train("shrunk", 19, true).train_loss, whole.train_loss, 1e-4 * whole.train_loss);
  // Of the rank that is no more there is what it did, and nothing later.
  train("shrunk", 23, true);
  for (const nlohmann::json& line : metrics_of(run_dir("shrunk"), "epoch"))
    EXPECT_TRUE(line.at("rank") == 0 || line.at("epoch") <= 3) << line;
}

/// What was measured before cannot be had: the scores are those of what was trained since.
TEST_F(CheckpointTest, MetricsAreNotTrusted) {
  train("run", 17);
  const auto file = run_dir("run") / "metrics.jsonl";
  const std::string sound = read_file(file);
  TrainConfig config = config_;
  config.run_dir = run_dir("run");
  config.resume = true;
  config.checkpoint_every = 0;
  config.iterations = 19;
  const run::Summary whole = train_on_threads(config);
  write_file(file, "");
  const run::Summary tail = train_on_threads(config);
  EXPECT_NE(tail.train_loss, whole.train_loss);

  const std::size_t begin = sound.find("\"iteration\":15,");
  ASSERT_NE(begin, std::string::npos);
  const std::size_t line = sound.rfind('\n', begin) + 1;
  const std::size_t samples = sound.find("\"samples\":", begin) + 10;
  const auto damaged = [&](std::size_t at, std::size_t length, const std::string& text) {
    return std::string(sound).replace(at, length, text);
  };
  for (const std::string& content :
       {damaged(begin, 5, ""), damaged(samples, 1, "-"), damaged(samples, 1, "1e300"),
        damaged(samples, 1, "[]"), damaged(begin + 12, 2, "1500000000"),
        damaged(line, 0, R"({"kind":"iteration","rank":0,"iteration":15})"),
        damaged(sound.find("\"rank\":", begin) + 7, 1, "900000000000"),
        damaged(line, 0, sound.substr(line, sound.find('\n', line) + 1 - line)),
        sound.substr(0, samples)}) {
    write_file(file, content);
    EXPECT_EQ(train_on_threads(config).train_loss, tail.train_loss) << content;
  }
}

TEST_F(CheckpointTest, KeepsTheNewestAndTheOneBefore) {
  train("run", 19);
  EXPECT_EQ(checkpoints("run"), (std::vector<std::string>{"iteration-00000010.safetensors",
                                                          "iteration-00000015.safetensors"}));
}

TEST_F(CheckpointTest, KeepsAsManyAsAskedFor) {
  config_.keep_checkpoints = 1;
  train("one", 12);
  EXPECT_EQ(checkpoints("one"), (std::vector<std::string>{"iteration-00000010.safetensors"}));
  config_.keep_checkpoints = 3;
  train("three", 19);
  EXPECT_EQ(checkpoints("three").size(), 3u);
  config_.keep_checkpoints = 0;
  testing::expect_error<UsageError>([&] { train("none", 5); }, {"--keep-checkpoints is 0"});
}

/// The previous one is taken, and a word says why.
TEST_F(CheckpointTest, AFlippedBitIsNoticed) {
  train("run", 12);
  TrainConfig config = config_;
  config.run_dir = run_dir("run");
  const auto newest = newest_checkpoint(config.run_dir);
  std::string content = read_file(newest);
  content[content.size() - 1234] ^= 0x10;  // in a weight: nothing but the checksum can tell
  write_file(newest, content);
  testing::expect_error<FileError>([&] { read_checkpoint(newest, config); },
                                   {newest.string(), "do not match its checksum"});
  const Checkpoint before = read_newest_checkpoint(config);
  EXPECT_EQ(before.iteration, 5u);
  EXPECT_NE(before.passed_over.find("iteration-00000010"), std::string::npos) << before.passed_over;
}

TEST_F(CheckpointTest, OfEarlierVersionsHasNoChecksum) {
  const run::Summary whole = train("whole", 19);
  train("run", 5);
  const auto file = newest_checkpoint(run_dir("run"));
  models::Metadata metadata;
  const auto state = models::read_safetensors(file, &metadata);
  metadata.erase(std::string(models::kChecksum));
  metadata["format"] = "lockstep checkpoint 1";
  models::write_safetensors(file, state, metadata);
  EXPECT_EQ(train("run", 19, true).weights_sha256, whole.weights_sha256);

  metadata["format"] = "lockstep checkpoint 2";
  models::write_safetensors(file, state, metadata);
  TrainConfig config = config_;
  config.run_dir = run_dir("run");
  testing::expect_error<FileError>([&] { read_checkpoint(file, config); },
                                   {"its checksum is missing"});
}

TEST_F(CheckpointTest, MetricsHaveEveryIterationOnce) {
  train("run", 12);
  train("run", 19, true);
  for (int rank : {0, 1}) {
    std::vector<int> iterations;
    for (const nlohmann::json& line : metrics_of(run_dir("run"), "iteration"))
      if (line.at("rank") == rank) iterations.push_back(line.at("iteration"));
    std::vector<int> expected(19);
    for (int i = 0; i < 19; ++i) expected[static_cast<std::size_t>(i)] = i + 1;
    EXPECT_EQ(iterations, expected);
  }
  EXPECT_EQ(metrics_of(run_dir("run"), "test").size(), 1u);
}

TEST_F(CheckpointTest, FitsAnotherNumberOfWorkers) {
  const run::Summary whole = train("whole", 19);
  train("run", 10);
  config_.workers = 3;
  const run::Summary resumed = train("run", 19, true);
  EXPECT_EQ(resumed.workers, 3);
  EXPECT_NEAR(resumed.test_loss, whole.test_loss, 1e-4 * whole.test_loss);
}

TEST_F(CheckpointTest, HoldsTheStatisticsOfBatchNorm) {
  config_.model = "vgg11";
  config_.data = "synthetic:train=16,test=4";
  config_.batch = 8;
  config_.augment = false;
  config_.checkpoint_every = 1;
  const run::Summary whole = train("whole", 2);
  train("halves", 1);
  const run::Summary resumed = train("halves", 2, true);
  EXPECT_EQ(resumed.weights_sha256, whole.weights_sha256);
  EXPECT_EQ(resumed.buffers_sha256, whole.buffers_sha256);
}

TEST_F(CheckpointTest, ChangesNoStatisticsOfBatchNorm) {
  config_.model = "vgg11";
  config_.data = "synthetic:train=16,test=4";
  config_.batch = 8;
  config_.augment = false;
  config_.checkpoint_every = 0;
  const run::Summary whole = train("whole", 2);
  config_.checkpoint_every = 1;
  const run::Summary with_checkpoints = train("run", 2);
  EXPECT_EQ(with_checkpoints.weights_sha256, whole.weights_sha256);
  EXPECT_EQ(with_checkpoints.buffers_sha256, whole.buffers_sha256);
  // What others make of the file is one model: its statistics are the average of all.
  std::map<std::string, std::vector<double>> values;
  for (const models::StoredTensor& tensor :
       models::read_safetensors(newest_checkpoint(run_dir("run"))))
    if (tensor.name.find("running_") != std::string::npos)
      values[tensor.name] = values_of({tensor});
  ASSERT_EQ(values.size(), 3u * 16u);
  for (const auto& [name, average] : values)
    for (std::size_t i = 0; !name.starts_with("shards.") && i < average.size(); ++i)
      ASSERT_FLOAT_EQ(average[i],
                      (values.at("shards.0." + name)[i] + values.at("shards.1." + name)[i]) / 2);
}

TEST_F(CheckpointTest, AStopIsAgreedOnAndSaysHowToGoOn) {
  const run::Summary whole = train("whole", 200);
  TrainConfig config = config_;
  config.run_dir = run_dir("stopped");
  config.iterations = 200;
  config.checkpoint_every = 0;
  // One rank is asked, at its second look; the other never is.
  std::atomic<int> looks = 0;
  const auto stopped = [&] {
    run_threads(2, [&](Group group) {
      const int rank = group.rank();
      train_silently(group, config, [&looks, rank] { return rank == 1 && ++looks >= 2; });
    });
  };
  testing::expect_error<StoppedError>(stopped,
                                      {"stopped after iteration", "of 200", "--resume", "stopped"});
  ASSERT_EQ(checkpoints("stopped").size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(run_dir("stopped") / "summary.json"));
  config.resume = true;
  EXPECT_EQ(train_on_threads(config).weights_sha256, whole.weights_sha256);
}

TEST_F(CheckpointTest, OfAnotherRunIsRefused) {
  train("run", 5);
  config_.batch = 32;
  testing::expect_error<UsageError>([&] { train("run", 19, true); },
                                    {"iteration-00000005", "--batch 16, not 32", "same options"});
  config_.batch = 16;
  config_.nesterov = true;
  testing::expect_error<UsageError>([&] { train("run", 19, true); }, {"--nesterov off, not on"});
}

TEST_F(CheckpointTest, OfAnEarlierRunIsNotMixedWithANewOne) {
  train("run", 5);
  testing::expect_error<UsageError>([&] { require_no_checkpoints(run_dir("run")); },
                                    {"checkpoints of an earlier run", "--resume"});
  testing::expect_error<UsageError>([&] { train("run", 5); }, {"checkpoints of an earlier run"});
  require_no_checkpoints(run_dir("another"));
}

TEST_F(CheckpointTest, LeavesWhatWasMeasuredSoFar) {
  TrainConfig config = config_;
  config.run_dir = run_dir("run");
  config.checkpoint_every = 3;
  config.iterations = 1'000'000;  // however fast the steps are, it does not get that far
  // It dies in the middle of an epoch, without a word.
  EXPECT_THROW(run_threads(2,
                           [&](Group group) {
                             train_silently(group, config, [looks = 0]() mutable -> bool {
                               if (++looks == 5) throw std::runtime_error("dead");
                               return false;
                             });
                           }),
               std::exception);
  const std::size_t newest = read_checkpoint(newest_checkpoint(config.run_dir), config).iteration;
  EXPECT_GE(metrics_of(config.run_dir, "iteration").size(), 2 * newest);
}

/// A pipe where the checkpoint after 5 iterations is to be written: whoever opens it waits until
/// someone reads.
std::filesystem::path make_slow_disk(const std::filesystem::path& run_dir) {
  const auto pipe =
      run_dir / "checkpoints" / fmt::format("iteration-00000005.safetensors.{}.part", ::getpid());
  std::filesystem::create_directories(pipe.parent_path());
  EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  return pipe;
}

void read_all_of(const std::filesystem::path& pipe) {
  const UniqueFd reader(
      ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK));  // not for ever, should nobody write
  std::vector<char> bytes(1 << 20);
  const Deadline deadline = Deadline::after(std::chrono::seconds(40));
  bool begun = false;
  for (ssize_t count = 0; !deadline.passed() && !(begun && count == 0);) {
    count = ::read(reader.get(), bytes.data(), bytes.size());
    begun = begun || count > 0;
  }
}

TEST_F(CheckpointTest, TrainingGoesOnWhileItIsWritten) {
  TrainConfig config = config_;
  config.run_dir = run_dir("run");
  config.iterations = 9;
  const auto pipe = make_slow_disk(config.run_dir);
  std::atomic<int> steps = 0;
  int steps_before = 0;
  std::jthread disk([&] {
    const Deadline deadline = Deadline::after(std::chrono::seconds(60));
    while (steps < 8 && !deadline.passed())
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    steps_before = steps;
    read_all_of(pipe);
  });
  // In the end a pipe cannot be brought to the disk.
  testing::expect_error<FileError>(
      [&] {
        run_threads(1, [&](const Group& group) {
          train_silently(group, config, [&steps] { return ++steps < 0; });
        });
      },
      {"iteration-00000005.safetensors: cannot write"});
  disk.join();
  EXPECT_GE(steps_before, 8);
}

TEST_F(CheckpointTest, MayTakeLongerThanRanksWaitForEachOther) {
  TrainConfig config = config_;
  config.run_dir = run_dir("run");
  const auto pipe = make_slow_disk(config.run_dir);
  constexpr std::chrono::seconds kTimeout(4);
  std::jthread disk([&] {
    std::this_thread::sleep_for(2 * kTimeout);
    read_all_of(pipe);
  });
  // That the pipe cannot be brought to the disk is said, not that rank 0 was late.
  testing::expect_error<FileError>(
      [&] {
        run_threads(2, [&](const Group& group) { train_silently(group, config); },
                    {.timeout = kTimeout});
      },
      {"iteration-00000005.safetensors: cannot write"});
}

TEST_F(CheckpointTest, AWriterThatComesLateRemovesNothingNewer) {
  train("run", 12);  // checkpoints after 5 and 10
  TrainConfig config = config_;
  config.run_dir = run_dir("run");
  config.keep_checkpoints = 1;
  const auto under_way = config.run_dir / "checkpoints" / "iteration-00000015.safetensors.1.part";
  write_file(under_way, "another's");
  Checkpoint late = read_newest_checkpoint(config);
  late.iteration = 7;
  write_checkpoint(config, late);
  EXPECT_EQ(
      checkpoints("run"),
      (std::vector<std::string>{"iteration-00000007.safetensors", "iteration-00000010.safetensors",
                                "iteration-00000015.safetensors.1.part"}));
}

TEST_F(CheckpointTest, WhatWasCutOffGoesWhenTheRunGoesOn) {
  train("run", 12);
  const auto part = run_dir("run") / "checkpoints" / "iteration-00000015.safetensors.1.part";
  write_file(part, "cut");
  train("run", 13, true);
  EXPECT_FALSE(std::filesystem::exists(part));
}

TEST_F(CheckpointTest, OfAnAbandonedFutureGoesWhenTheRunGoesOn) {
  train("run", 12);  // checkpoints after 5 and 10
  const auto newest = newest_checkpoint(run_dir("run"));
  const std::string sound = read_file(newest);
  write_file(newest, sound.substr(0, 1000));
  const auto abandoned = newest.parent_path() / "iteration-00000099.safetensors";
  write_file(abandoned, sound.substr(0, 1000));
  train("run", 9, true);  // from 5, without another
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  EXPECT_EQ(checkpoints("run"), std::vector<std::string>{"iteration-00000005.safetensors"});
}

TEST_F(CheckpointTest, AnEpochThatWasCutOffIsWrittenOnce) {
  train("run", 10);  // ends with a checkpoint, in the middle of the second epoch
  train("run", 19, true);
  std::map<std::pair<int, int>, int> lines;  // by rank and epoch
  for (const nlohmann::json& line : metrics_of(run_dir("run"), "epoch"))
    ++lines[{line.at("rank"), line.at("epoch")}];
  for (const auto& [which, count] : lines) EXPECT_EQ(count, 1) << "epoch " << which.second;
  EXPECT_EQ(lines.size(), 6u);
}

TEST_F(CheckpointTest, GivesWayToTheOneBeforeIfItIsDamaged) {
  const run::Summary whole = train("whole", 19);
  train("run", 12);
  const auto newest = newest_checkpoint(run_dir("run"));
  write_file(newest, read_file(newest).substr(0, 1000));
  TrainConfig config = config_;
  config.run_dir = run_dir("run");
  const Checkpoint before = read_newest_checkpoint(config);
  EXPECT_EQ(before.iteration, 5u);
  EXPECT_NE(before.passed_over.find("iteration-00000010"), std::string::npos) << before.passed_over;
  EXPECT_EQ(train("run", 19, true).weights_sha256, whole.weights_sha256);
  EXPECT_EQ(metrics_of(run_dir("run"), "iteration").size(), 2u * 19u);

  for (const std::string& name : checkpoints("run"))
    write_file(run_dir("run") / "checkpoints" / name, "damaged");
  testing::expect_error<FileError>([&] { train("run", 25, true); }, {"iteration-00000015"});
}

TEST_F(CheckpointTest, HasToBeThere) {
  testing::expect_error<FileError>([&] { train("nowhere", 19, true); },
                                   {"nowhere", "no checkpoint", "--checkpoint-every"});
}

TEST_F(CheckpointTest, MustLeaveSomethingToDo) {
  train("run", 5);
  testing::expect_error<UsageError>([&] { train("run", 5, true); }, {"nothing to resume"});
}

TEST_F(CheckpointTest, IsNotTrusted) {
  train("run", 5);
  const auto file = newest_checkpoint(run_dir("run"));
  const std::string whole = read_file(file);
  TrainConfig config = config_;
  config.run_dir = run_dir("run");
  for (std::size_t length :
       {whole.size() - 1, whole.size() / 2, std::size_t{100}, std::size_t{0}}) {
    write_file(file, whole.substr(0, length));
    testing::expect_error<FileError>([&] { read_checkpoint(file, config); }, {file.string()});
  }
  // Sound weights, but no checkpoint.
  models::write_safetensors(file, {});
  testing::expect_error<FileError>([&] { read_checkpoint(file, config); }, {"not a checkpoint"});
}

TEST_F(CheckpointTest, WithoutTheOptimizersStateIsRefused) {
  train("run", 5);
  const auto file = newest_checkpoint(run_dir("run"));
  models::Metadata metadata;
  auto state = models::read_safetensors(file, &metadata);
  const auto removed = std::erase_if(state, [](const auto& tensor) {
    return tensor.name == "optimizer.momentum.classifier.2.bias";
  });
  ASSERT_EQ(removed, 1u);
  write_file(file, models::format_with_checksum(state, metadata, file.string()));
  testing::expect_error<FileError>([&] { train("run", 19, true); },
                                   {"optimizer.momentum", "is missing or does not fit"});
}

}  // namespace
}  // namespace lockstep::internal::train
