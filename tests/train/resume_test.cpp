// A run that stopped and was resumed ends with the same bits as one that never stopped.
#include <lockstep/error.h>

#include "models/checksum.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpointed_runs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>

namespace lockstep::internal::train {
namespace {

class Resume : public CheckpointTest {};

TEST_F(Resume, GivesTheBitsOfAnUninterruptedRun) {
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

TEST_F(Resume, ScoresCoverTheWholeLastEpoch) {
  const run::Summary whole = train("whole", 19);  // the last epoch begins with 15
  train("halves", 17);
  const run::Summary resumed = train("halves", 19, true);
  EXPECT_DOUBLE_EQ(resumed.train_loss, whole.train_loss);
  EXPECT_DOUBLE_EQ(resumed.train_accuracy, whole.train_accuracy);
  EXPECT_DOUBLE_EQ(resumed.ranks[1].train_loss, whole.ranks[1].train_loss);
  ASSERT_EQ(resumed.epoch_results.size(), 3u);
  ASSERT_EQ(resumed.ranks[1].epoch_results.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_DOUBLE_EQ(resumed.epoch_results[i].train_loss, whole.epoch_results[i].train_loss);
  const auto epochs = metrics_of(run_dir("halves"), "epoch");
  EXPECT_EQ(epochs.back().at("samples"),
            metrics_of(run_dir("whole"), "epoch").back().at("samples"));

  train("shrunk", 17);
  config_.workers = 1;
  EXPECT_NEAR(train("shrunk", 19, true).train_loss, whole.train_loss, 1e-4 * whole.train_loss);
  // Rank 1 no longer exists: its lines end with the epoch in which it was removed.
  train("shrunk", 23, true);
  for (const nlohmann::json& line : metrics_of(run_dir("shrunk"), "epoch"))
    EXPECT_TRUE(line.at("rank") == 0 || line.at("epoch") <= 3) << line;
}

/// Without the measurements of the stopped run, scores cover only the iterations since it was
/// resumed.
TEST_F(Resume, DamagedMetricsAreIgnored) {
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

TEST_F(Resume, MetricsHaveEveryIterationOnce) {
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

TEST_F(Resume, AnInterruptedEpochIsWrittenOnce) {
  train("run", 10);  // ends with a checkpoint, in the middle of the second epoch
  train("run", 19, true);
  std::map<std::pair<int, int>, int> lines;  // by rank and epoch
  for (const nlohmann::json& line : metrics_of(run_dir("run"), "epoch"))
    ++lines[{line.at("rank"), line.at("epoch")}];
  for (const auto& [which, count] : lines) EXPECT_EQ(count, 1) << "epoch " << which.second;
  EXPECT_EQ(lines.size(), 6u);
}

TEST_F(Resume, WorksWithAnotherNumberOfWorkers) {
  const run::Summary whole = train("whole", 19);
  train("run", 10);
  config_.workers = 3;
  const run::Summary resumed = train("run", 19, true);
  EXPECT_EQ(resumed.workers, 3);
  EXPECT_NEAR(resumed.test_loss, whole.test_loss, 1e-4 * whole.test_loss);
}

TEST_F(Resume, RestoresTheStatisticsOfBatchNorm) {
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

TEST_F(Resume, ARequestedStopEndsAllRanksAndSaysHowToResume) {
  const run::Summary whole = train("whole", 200);
  TrainConfig config = config_;
  config.run_dir = run_dir("stopped");
  config.iterations = 200;
  config.checkpoint_every = 0;
  // Only rank 1 is asked to stop, at its second query.
  std::atomic<int> queries = 0;
  const auto stopped = [&] {
    run_threads(2, [&](Group group) {
      const int rank = group.rank();
      train_silently(group, config, [&queries, rank] { return rank == 1 && ++queries >= 2; });
    });
  };
  testing::expect_error<StoppedError>(stopped,
                                      {"stopped after iteration", "of 200", "--resume", "stopped"});
  ASSERT_EQ(checkpoints("stopped").size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(run_dir("stopped") / "summary.json"));
  config.resume = true;
  EXPECT_EQ(train_on_threads(config).weights_sha256, whole.weights_sha256);
}

TEST_F(Resume, AFailedRunKeepsItsMetricsUpToTheCheckpoint) {
  TrainConfig config = config_;
  config.run_dir = run_dir("run");
  config.checkpoint_every = 3;
  config.iterations = 1'000'000;  // more than it can reach, however fast its steps are
  // The run fails in the middle of an epoch, without writing a checkpoint.
  EXPECT_THROW(run_threads(2,
                           [&](Group group) {
                             train_silently(group, config, [queries = 0]() mutable -> bool {
                               if (++queries == 5) throw std::runtime_error("dead");
                               return false;
                             });
                           }),
               std::exception);
  const std::size_t newest = read_checkpoint(newest_checkpoint(config.run_dir), config).iteration;
  EXPECT_GE(metrics_of(config.run_dir, "iteration").size(), 2 * newest);
}

TEST_F(Resume, RefusesTheCheckpointOfAnotherJob) {
  train("run", 5);
  config_.batch = 32;
  testing::expect_error<UsageError>([&] { train("run", 19, true); },
                                    {"iteration-00000005", "--batch 16, not 32", "same options"});
  config_.batch = 16;
  config_.nesterov = true;
  testing::expect_error<UsageError>([&] { train("run", 19, true); }, {"--nesterov off, not on"});
}

TEST_F(Resume, NeedsACheckpoint) {
  testing::expect_error<FileError>([&] { train("nowhere", 19, true); },
                                   {"nowhere", "no checkpoint", "--checkpoint-every"});
}

TEST_F(Resume, RefusesACompletedRun) {
  train("run", 5);
  testing::expect_error<UsageError>([&] { train("run", 5, true); }, {"nothing to resume"});
}

TEST_F(Resume, AcceptsTheFormatOfEarlierVersionsWithoutChecksum) {
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

TEST_F(Resume, TakesThePreviousCheckpointIfTheNewestIsDamaged) {
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

TEST_F(Resume, RefusesACheckpointWithoutTheOptimizersState) {
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
