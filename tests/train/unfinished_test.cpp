// A run whose workers were lost right after a step: the resumed run does the work after that step.
#include "engine/make_engine.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "train/elastic/elastic_member.h"
#include "train/training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace lockstep::internal::train {
namespace {

/// Loses rank 0 right after an iteration, before its test and its checkpoint.
class LostAfter : public Progress {
 public:
  explicit LostAfter(std::size_t iteration) : last_(iteration) {}
  void started(const TrainConfig&, std::size_t, std::size_t) override {}
  void notice(const std::string& text) override { notices += text; }
  void iteration(std::size_t done, std::size_t, double, double) override {
    if (done == last_) throw std::runtime_error("lost");
  }
  void epoch(std::size_t, const std::vector<std::vector<run::Record>>&) override {}

  std::string notices;

 private:
  const std::size_t last_;
};

/// Seven batches an epoch, two epochs.
class UnfinishedTest : public ::testing::Test {
 protected:
  UnfinishedTest() {
    config_ = small_job();
    config_.shards = 2;
    config_.workers = 2;
    config_.epochs = 2;
    config_.policy.patience = 1;
  }

  TrainConfig config_in(const std::string& folder) const {
    TrainConfig config = config_;
    config.run_dir = folder_.path() / folder;
    return config;
  }

  static ElasticMember elastic() {
    ElasticMember member;
    member.worker_waiting = [] { return false; };
    member.results_written = [] {};
    return member;
  }

  /// The state of each rank when rank 0 is lost after this number of iterations.
  std::vector<std::optional<RunState>> lose_after(const TrainConfig& config,
                                                  std::size_t iterations) {
    TrainConfig now = config;
    now.transport = "shm";
    now.elastic = true;
    std::vector<std::optional<RunState>> states(2);
    EXPECT_THROW(run_threads(2,
                             [&](Group group) {
                               const int rank = group.rank();
                               ElasticMember mine = elastic();
                               LostAfter progress(iterations);
                               try {
                                 train_worker(std::move(group), engine::built_in_engines(), now,
                                              progress, {}, &mine);
                               } catch (...) {
                                 states[static_cast<std::size_t>(rank)] = mine.state;
                                 throw;
                               }
                             }),
                 std::exception);
    if (!states[0] || !states[1]) throw InternalError("they never trained");
    return states;
  }

  /// The summary of a run that ended in this way and was resumed.
  run::Summary resume_after(std::size_t iterations) {
    TrainConfig config = config_in("run");
    const std::string words = save_run_state(config, lose_after(config, iterations)[0]);
    EXPECT_NE(words.find("--resume"), std::string::npos) << words;
    config.resume = true;
    return train_on_threads(config);
  }

  /// The lines of metrics.jsonl without times, sorted.
  std::vector<std::tuple<int, int, double>> lines(const std::string& folder,
                                                  const std::string& kind) const {
    std::vector<std::tuple<int, int, double>> all;
    for (const auto& line : metrics_of(folder_.path() / folder, kind))
      all.emplace_back(line.at("iteration"), line.at("rank"), line.at("loss"));
    std::sort(all.begin(), all.end());
    return all;
  }

  void expect_equal(const run::Summary& run, const run::Summary& whole) const {
    EXPECT_EQ(run.weights_sha256, whole.weights_sha256);
    EXPECT_EQ(run.iterations, whole.iterations);
    EXPECT_EQ(run.test_loss, whole.test_loss);
    EXPECT_EQ(run.stopped, whole.stopped);
    EXPECT_GT(run.images_per_second, 0);
    for (const char* kind : {"iteration", "epoch", "test"})
      EXPECT_EQ(lines("run", kind), lines("whole", kind)) << kind;
  }

  testing::TemporaryFolder folder_;
  TrainConfig config_;
};

TEST_F(UnfinishedTest, TheResumedRunTestsTheEpoch) {
  const run::Summary whole = train_on_threads(config_in("whole"));
  ASSERT_EQ(lines("whole", "test").size(), 2u);
  expect_equal(resume_after(7), whole);
}

TEST_F(UnfinishedTest, TheResumedRunAppliesTheEpochPolicy) {
  config_.policy.patience.reset();
  config_.policy.stop_at_accuracy = 0.001;
  const run::Summary whole = train_on_threads(config_in("whole"));
  ASSERT_EQ(whole.iterations, 7u);
  expect_equal(resume_after(7), whole);
}

TEST_F(UnfinishedTest, AfterTheLastStepOnlyTheResultsAreLeft) {
  const run::Summary whole = train_on_threads(config_in("whole"));
  expect_equal(resume_after(14), whole);
}

TEST_F(UnfinishedTest, MissingRecordsAreAnError) {
  TrainConfig config = config_in("run");
  save_run_state(config, lose_after(config, 14)[0]);
  std::filesystem::remove(config.run_dir / "metrics.jsonl");
  config.resume = true;
  testing::expect_error<FileError>([&] { train_on_threads(config); },
                                   {"metrics.jsonl", "does not have iteration 14"});
}

TEST_F(UnfinishedTest, OnlyAStepCanBeUnfinished) {
  const TrainConfig config = config_in("run");
  for (std::size_t iteration : {0u, 3u}) {
    const Checkpoint checkpoint{.iteration = iteration, .state = {}, .unfinished = true};
    const std::string text = format_checkpoint(config, checkpoint, "a test");
    EXPECT_EQ(parse_checkpoint(text, "a test", config).unfinished, iteration == 3);
  }
  const std::string plain = format_checkpoint(config, {.iteration = 3, .state = {}}, "a test");
  EXPECT_FALSE(parse_checkpoint(plain, "a test", config).unfinished);
}

TEST_F(UnfinishedTest, ARankWithAnotherNumericEnvironmentIsNamed) {
  TrainConfig config = config_in("run");
  std::vector<std::optional<RunState>> states = lose_after(config, 3);
  states[1]->checkpoint.numeric_environment["processor"] = "Abacus 1";
  config.transport = "shm";
  config.elastic = true;
  std::string notices;
  run_threads(2, [&](Group group) {
    const int rank = group.rank();
    ElasticMember mine = elastic();
    mine.state = states[static_cast<std::size_t>(rank)];
    LostAfter progress(0);
    train_worker(std::move(group), engine::built_in_engines(), config, progress, {}, &mine);
    if (rank == 0) notices = progress.notices;
  });
  EXPECT_NE(notices.find("differs from that of the state in another worker's memory"),
            std::string::npos)
      << notices;
  EXPECT_NE(notices.find("rank 1: processor was Abacus 1 and is "), std::string::npos) << notices;
}

}  // namespace
}  // namespace lockstep::internal::train
