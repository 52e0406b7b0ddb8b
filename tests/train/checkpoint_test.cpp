// Checkpoint files: which are kept and removed, and writing while training continues.
#include "train/checkpoint/checkpoint.h"

#include <lockstep/error.h>

#include "base/deadline.h"
#include "base/unique_fd.h"
#include "models/stored_tensor.h"
#include "train/checkpointed_runs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <thread>

namespace lockstep::internal::train {
namespace {

class CheckpointFiles : public CheckpointTest {};

TEST_F(CheckpointFiles, TheNewestTwoAreKept) {
  train("run", 19);
  EXPECT_EQ(checkpoints("run"), (std::vector<std::string>{"iteration-00000010.safetensors",
                                                          "iteration-00000015.safetensors"}));
}

TEST_F(CheckpointFiles, KeepCheckpointsSetsHowManyAreKept) {
  config_.keep_checkpoints = 1;
  train("one", 12);
  EXPECT_EQ(checkpoints("one"), (std::vector<std::string>{"iteration-00000010.safetensors"}));
  config_.keep_checkpoints = 3;
  train("three", 19);
  EXPECT_EQ(checkpoints("three").size(), 3u);
  config_.keep_checkpoints = 0;
  testing::expect_error<UsageError>([&] { train("none", 5); }, {"--keep-checkpoints is 0"});
}

/// The previous checkpoint is read instead, and `passed_over` names the damaged one.
TEST_F(CheckpointFiles, AFlippedBitIsNoticed) {
  train("run", 12);
  TrainConfig config = config_;
  config.run_dir = run_dir("run");
  const auto newest = newest_checkpoint(config.run_dir);
  std::string content = read_file(newest);
  content[content.size() - 1234] ^= 0x10;  // in a weight: only the checksum shows it
  write_file(newest, content);
  testing::expect_error<FileError>([&] { read_checkpoint(newest, config); },
                                   {newest.string(), "do not match its checksum"});
  const Checkpoint before = read_newest_checkpoint(config);
  EXPECT_EQ(before.iteration, 5u);
  EXPECT_NE(before.passed_over.find("iteration-00000010"), std::string::npos) << before.passed_over;
}

TEST_F(CheckpointFiles, WritingChangesNoStatisticsOfBatchNorm) {
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
  // Other programs read one model from the file: its statistics are the average over all shards.
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

TEST_F(CheckpointFiles, ANewRunRefusesAFolderWithCheckpoints) {
  train("run", 5);
  testing::expect_error<UsageError>([&] { require_no_checkpoints(run_dir("run")); },
                                    {"checkpoints of an earlier run", "--resume"});
  testing::expect_error<UsageError>([&] { train("run", 5); }, {"checkpoints of an earlier run"});
  require_no_checkpoints(run_dir("another"));
}

/// Makes a pipe where the checkpoint after 5 iterations is to be written: its writer waits until a
/// reader opens it.
std::filesystem::path make_slow_disk(const std::filesystem::path& run_dir) {
  const auto pipe =
      run_dir / "checkpoints" / fmt::format("iteration-00000005.safetensors.{}.part", ::getpid());
  std::filesystem::create_directories(pipe.parent_path());
  EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  return pipe;
}

void read_all_of(const std::filesystem::path& pipe) {
  const UniqueFd reader(
      ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK));  // O_NONBLOCK: returns if there is no writer
  std::vector<char> bytes(1 << 20);
  const Deadline deadline = Deadline::after(std::chrono::seconds(40));
  bool begun = false;
  for (ssize_t count = 0; !deadline.passed() && !(begun && count == 0);) {
    count = ::read(reader.get(), bytes.data(), bytes.size());
    begun = begun || count > 0;
  }
}

TEST_F(CheckpointFiles, TrainingContinuesDuringAWrite) {
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
  // A pipe cannot be synchronised to the disk, so the write fails in the end.
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

TEST_F(CheckpointFiles, AWriteMayTakeLongerThanTheTimeout) {
  TrainConfig config = config_;
  config.run_dir = run_dir("run");
  const auto pipe = make_slow_disk(config.run_dir);
  constexpr std::chrono::seconds kTimeout(4);
  std::jthread disk([&] {
    std::this_thread::sleep_for(2 * kTimeout);
    read_all_of(pipe);
  });
  // The error is that a pipe cannot be synchronised to the disk; no rank reports a late rank 0.
  testing::expect_error<FileError>(
      [&] {
        run_threads(2, [&](const Group& group) { train_silently(group, config); },
                    {.timeout = kTimeout});
      },
      {"iteration-00000005.safetensors: cannot write"});
}

TEST_F(CheckpointFiles, ALateWriterRemovesNothingNewer) {
  train("run", 12);  // checkpoints after 5 and 10
  TrainConfig config = config_;
  config.run_dir = run_dir("run");
  config.keep_checkpoints = 1;
  const auto under_way = config.run_dir / "checkpoints" / "iteration-00000015.safetensors.1.part";
  write_file(under_way, "of another process");
  Checkpoint late = read_newest_checkpoint(config);
  late.iteration = 7;
  write_checkpoint(config, late);
  EXPECT_EQ(
      checkpoints("run"),
      (std::vector<std::string>{"iteration-00000007.safetensors", "iteration-00000010.safetensors",
                                "iteration-00000015.safetensors.1.part"}));
}

TEST_F(CheckpointFiles, ResumingRemovesPartialFiles) {
  train("run", 12);
  const auto part = run_dir("run") / "checkpoints" / "iteration-00000015.safetensors.1.part";
  write_file(part, "cut");
  train("run", 13, true);
  EXPECT_FALSE(std::filesystem::exists(part));
}

TEST_F(CheckpointFiles, ResumingRemovesLaterDamagedFiles) {
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

TEST_F(CheckpointFiles, DamagedFilesAreRefused) {
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

}  // namespace
}  // namespace lockstep::internal::train
