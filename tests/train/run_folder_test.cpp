// The folder of a run: its options, its measurements and its results.
#include "run/run_folder.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/text.h"
#include "base/version.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "train/training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>

namespace lockstep::internal::train {
namespace {

using Names = std::set<std::string>;

/// Two workers, two epochs of seven batches.
class FinishedRun : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<testing::TemporaryFolder>();
    TrainConfig config = small_job();
    config.engine = "torch";
    config.workers = 2;
    config.epochs = 2;
    config.run_dir = run_dir();
    config.command = "lockstep train 'as typed'";
    summary_ = train_on_threads(config);
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::filesystem::path run_dir() { return folder_->path() / "below" / "run"; }
  static nlohmann::json read(const std::string& name) {
    return nlohmann::json::parse(read_file(run_dir() / name));
  }

  static inline std::unique_ptr<testing::TemporaryFolder> folder_;
  static inline run::Summary summary_;
};

Names names_of(const nlohmann::json& object) {
  Names names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

Names words(std::string_view text) {
  const std::vector<std::string> parts = split(text, ' ');
  return {parts.begin(), parts.end()};
}

TEST_F(FinishedRun, HasExactlyItsFiles) {
  Names files;
  for (const auto& entry : std::filesystem::directory_iterator(run_dir()))
    files.insert(entry.path().filename());
  EXPECT_EQ(files, (Names{"config.json", "metrics.jsonl", "summary.json", "trace.json"}));
}

TEST_F(FinishedRun, ConfigHasTheOptions) {
  const nlohmann::json expected = {{"format", 1},
                                   {"model", "lenet5"},
                                   {"data", "mnist"},
                                   {"data_dir", LOCKSTEP_TEST_DATA},
                                   {"limit", 100},
                                   {"workers", 2},
                                   {"threads", 1},
                                   {"transport", "thread"},
                                   {"engine", "torch"},
                                   {"method", "ddp"},
                                   {"sync", "ddp"},
                                   {"algorithm", "auto"},
                                   {"dtype", "float32"},
                                   {"batch", 16},
                                   {"epochs", 2},
                                   {"iterations", 0},
                                   {"optimizer", "sgd"},
                                   {"lr", 0.01},
                                   {"momentum", 0.9},
                                   {"weight_decay", 5e-4},
                                   {"seed", 5000},
                                   {"shuffle", true},
                                   {"split", "sampler"},
                                   {"test_per_rank", false},
                                   {"augment", false},
                                   {"first_bucket_mb", 1.0},
                                   {"bucket_mb", 25.0},
                                   {"init", ""},
                                   {"mistake", ""},
                                   {"trace", 10},
                                   {"slow", ""},
                                   {"slow_data", 0.0},
                                   {"loader_threads", 0},
                                   {"checkpoint_every", 0},
                                   {"conv", "auto"},
                                   {"nesterov", false},
                                   {"sync_bn", false},
                                   {"conv_methods", nullptr},
                                   {"shards", 0},
                                   {"compress", ""},
                                   {"local_steps", 4},
                                   {"staleness", nullptr},
                                   {"servers", 1},
                                   {"schedule", "constant"},
                                   {"warmup", 0.0},
                                   {"lr_scale", "none"},
                                   {"lr_batch", 256},
                                   {"lr_full", 0.01},
                                   {"clip", 0.0},
                                   {"clip_value", 0.0},
                                   {"beta1", 0.9},
                                   {"beta2", 0.999},
                                   {"epsilon", 1e-8},
                                   {"trust", 0.001},
                                   {"accumulate", 1},
                                   {"label_smoothing", 0.0},
                                   {"zero_gamma", false},
                                   {"no_decay_bn_bias", false},
                                   {"patience", nullptr},
                                   {"plateau", nullptr},
                                   {"plateau_factor", 0.1},
                                   {"stop_at_accuracy", nullptr},
                                   {"balance", false},
                                   {"check_every", nullptr},
                                   {"keep_checkpoints", 2},
                                   {"checkpoint_errors", "stop"},
                                   {"restarts", 0},
                                   {"elastic", false},
                                   {"min_workers", 1},
                                   {"hang_timeout", 60.0}};
  nlohmann::json config = read("config.json");
  for (const char* known :
       {"command", "version", "machine", "planned_iterations", "parameters", "gradient_bytes"})
    EXPECT_EQ(config.erase(known), 1u) << known;
  EXPECT_EQ(config, expected);
}

TEST_F(FinishedRun, ConfigHasResolvedValuesAndTheMachine) {
  const nlohmann::json config = read("config.json");
  EXPECT_EQ(config.at("command"), "lockstep train 'as typed'");
  EXPECT_EQ(config.at("version"), version());
  EXPECT_GE(config.at("machine").at("cores"), 1);
  EXPECT_GT(config.at("machine").at("memory_bytes"), 1 << 20);
  EXPECT_NE(config.at("machine").at("system").get<std::string>().find("Linux"), std::string::npos);
  EXPECT_EQ(config.at("planned_iterations"), 14);
  EXPECT_EQ(config.at("parameters"), 10);
  EXPECT_EQ(config.at("gradient_bytes"), 61706 * 4);
}

TEST_F(FinishedRun, MetricsHaveEveryIterationAndEpochOfEveryRank) {
  std::map<std::tuple<std::string, int, int>, int> lines;  // by kind, rank and epoch
  std::set<std::pair<int, int>> iterations;                // by rank
  for (const nlohmann::json& line : metrics_of(run_dir(), "")) {
    ++lines[{line.at("kind"), line.at("rank"), line.at("epoch")}];
    if (line.at("kind") == "iteration") iterations.emplace(line.at("rank"), line.at("iteration"));
  }
  const std::map<std::tuple<std::string, int, int>, int> expected{
      {{"iteration", 0, 1}, 7}, {{"iteration", 0, 2}, 7}, {{"iteration", 1, 1}, 7},
      {{"iteration", 1, 2}, 7}, {{"epoch", 0, 1}, 1},     {{"epoch", 0, 2}, 1},
      {{"epoch", 1, 1}, 1},     {{"epoch", 1, 2}, 1},     {{"test", 0, 2}, 1}};
  EXPECT_EQ(lines, expected);
  EXPECT_EQ(iterations.size(), 28u);
  EXPECT_EQ(*iterations.begin(), std::pair(0, 1));
  EXPECT_EQ(*iterations.rbegin(), std::pair(1, 14));
}

TEST_F(FinishedRun, MetricsHaveTheirFields) {
  const Names common{"kind", "rank", "epoch", "iteration", "loss", "accuracy"};
  Names training = common;
  training.insert({"lr", "data", "forward", "backward", "communication", "hidden", "exposed",
                   "wait", "optimizer", "total"});
  for (const nlohmann::json& line : metrics_of(run_dir(), "")) {
    const Names& expected = line.at("kind") == "test" ? common : training;
    EXPECT_TRUE(std::ranges::includes(names_of(line), expected)) << line;
    EXPECT_GT(line.at("loss"), 0) << line;
    EXPECT_GE(line.at("accuracy"), 0) << line;
    EXPECT_LE(line.at("accuracy"), 1) << line;
  }
}

TEST_F(FinishedRun, TimesOfAnIterationArePartsOfItsTotal) {
  for (const nlohmann::json& line : metrics_of(run_dir(), "iteration")) {
    EXPECT_EQ(line.at("lr"), 0.01);
    double parts = 0;
    for (const char* part : {"data", "forward", "backward", "exposed", "optimizer"}) {
      EXPECT_GE(line.at(part), 0) << part << " of " << line;
      parts += line.at(part).get<double>();
    }
    EXPECT_LE(parts, line.at("total").get<double>()) << line;
    EXPECT_GE(line.at("wait"), 0) << line;
    EXPECT_LE(line.at("wait"), line.at("exposed")) << line;
  }
}

TEST_F(FinishedRun, AnEpochIsTheSumOfItsIterations) {
  // Of 100 images rank 0 has 8 in each of six batches and 2 in the seventh.
  double loss_sum = 0;
  double seconds = 0;
  for (const nlohmann::json& line : metrics_of(run_dir(), "iteration")) {
    if (line.at("rank") != 0 || line.at("epoch") != 1) continue;
    loss_sum += line.at("loss").get<double>() * (line.at("iteration") == 7 ? 2 : 8);
    seconds += line.at("total").get<double>();
  }
  const nlohmann::json epoch = metrics_of(run_dir(), "epoch").front();
  ASSERT_EQ(epoch.at("rank"), 0);
  EXPECT_EQ(epoch.at("iteration"), 7);
  EXPECT_NEAR(epoch.at("loss"), loss_sum / 50, 1e-9);
  EXPECT_NEAR(epoch.at("total"), seconds, 1e-9);
}

TEST_F(FinishedRun, SummaryHasEveryField) {
  const Names shared = words(
      "seconds_per_iteration compute_share communication_share hidden_communication_share "
      "exposed_communication_share wait_share data_share bytes_per_iteration "
      "operations_per_iteration latency_seconds train_loss "
      "train_accuracy epoch_results seconds_training exchanged weights_sha256 "
      "peak_rss_bytes");
  Names whole = words(
      "method sync algorithm transport engine model data workers threads global_batch shards "
      "epochs iterations seconds_total seconds_per_epoch images_per_second bandwidth_mbs test_loss "
      "test_accuracy test_correct test_images average_train_losses buffers_sha256 stopped verdict "
      "bottleneck ranks");
  Names rank{"rank"};
  whole.insert(shared.begin(), shared.end());
  rank.insert(shared.begin(), shared.end());

  const nlohmann::json summary = read("summary.json");
  EXPECT_EQ(names_of(summary), whole);
  EXPECT_EQ(names_of(summary.at("seconds_per_iteration")), (Names{"mean", "p50", "p90"}));
  for (const nlohmann::json& one : summary.at("ranks")) EXPECT_EQ(names_of(one), rank);
}

TEST_F(FinishedRun, SummaryReadsBackAsItWasReturned) {
  EXPECT_EQ(to_json(run::read_summary(run_dir())), to_json(summary_));
}

TEST_F(FinishedRun, SummaryCountsEpochsAndIterations) {
  EXPECT_EQ(summary_.method, "ddp");
  EXPECT_EQ(summary_.sync, "ddp");
  EXPECT_EQ(summary_.algorithm, "auto");
  EXPECT_EQ(summary_.transport, "thread");
  EXPECT_EQ(summary_.workers, 2);
  EXPECT_EQ(summary_.threads, 1);
  EXPECT_EQ(summary_.global_batch, 16u);
  EXPECT_EQ(summary_.epochs, 2u);
  EXPECT_EQ(summary_.iterations, 14u);
  EXPECT_DOUBLE_EQ(summary_.seconds_per_epoch, summary_.seconds_total / 2);
  EXPECT_EQ(summary_.weights_sha256.size(), 64u);
  EXPECT_FALSE(summary_.verdict.empty());
  EXPECT_EQ(summary_.operations_per_iteration, 1);  // all gradients fit into one bucket
  EXPECT_GT(summary_.latency_seconds, 0);
}

TEST_F(FinishedRun, ThroughputIsThatOfAllIterationsExceptTheFirst) {
  double seconds = 0;
  for (const nlohmann::json& line : metrics_of(run_dir(), "iteration"))
    if (line.at("iteration") > 1) seconds += line.at("total").get<double>();
  EXPECT_NEAR(summary_.images_per_second, (200 - 16) / (seconds / 2), 1e-3);
}

TEST_F(FinishedRun, SummaryHasTheEpochsOfEveryRank) {
  ASSERT_EQ(summary_.epoch_results.size(), 2u);
  EXPECT_EQ(summary_.epoch_results[1].train_loss, summary_.train_loss);
  EXPECT_EQ(summary_.epoch_results[1].train_accuracy, summary_.train_accuracy);
  const auto lines = metrics_of(run_dir(), "epoch");
  double seconds = 0;
  for (const nlohmann::json& line : lines) {
    const run::RankSummary& rank = summary_.ranks.at(line.at("rank"));
    const run::EpochResults& its = rank.epoch_results.at(line.at("epoch").get<std::size_t>() - 1);
    EXPECT_EQ(its.train_loss, line.at("loss"));
    EXPECT_EQ(its.seconds, line.at("total"));
    EXPECT_DOUBLE_EQ(its.images_per_second, 50 / its.seconds);
    seconds += its.seconds;
  }
  EXPECT_EQ(lines.size(), 4u);
  EXPECT_NEAR(summary_.ranks[0].seconds_training + summary_.ranks[1].seconds_training, seconds,
              1e-9);
  EXPECT_NEAR(summary_.seconds_training, seconds / 2, 1e-9);
}

TEST_F(FinishedRun, SummaryCountsTheTestedImages) {
  EXPECT_EQ(summary_.test_images, metrics_of(run_dir(), "test").front().at("samples"));
  EXPECT_DOUBLE_EQ(
      static_cast<double>(summary_.test_correct) / static_cast<double>(summary_.test_images),
      summary_.test_accuracy);
}

TEST_F(FinishedRun, SummaryHasTheLossOfTheLastEpochOverAllRanks) {
  double loss = 0;
  double accuracy = 0;
  for (const nlohmann::json& line : metrics_of(run_dir(), "epoch")) {
    if (line.at("epoch") != 2) continue;
    loss += line.at("loss").get<double>() / 2;  // both ranks had 50 images
    accuracy += line.at("accuracy").get<double>() / 2;
  }
  EXPECT_NEAR(summary_.train_loss, loss, 1e-12);
  EXPECT_NEAR(summary_.train_accuracy, accuracy, 1e-12);
  const nlohmann::json test = metrics_of(run_dir(), "test").front();
  EXPECT_EQ(summary_.test_loss, test.at("loss"));
  EXPECT_EQ(summary_.test_accuracy, test.at("accuracy"));
}

template <typename Part>
void expect_sound_shares(const Part& part) {
  for (double share :
       {part.compute_share, part.communication_share, part.hidden_communication_share,
        part.exposed_communication_share, part.wait_share, part.data_share}) {
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
  }
  EXPECT_GT(part.compute_share, 0);
  EXPECT_LE(part.wait_share, part.exposed_communication_share);
  EXPECT_LE(part.hidden_communication_share, part.communication_share);
  EXPECT_LE(part.compute_share + part.exposed_communication_share + part.data_share, 1);
}

TEST_F(FinishedRun, FractionsAreBetweenZeroAndOne) {
  expect_sound_shares(summary_);
  ASSERT_EQ(summary_.ranks.size(), 2u);
  for (const run::RankSummary& rank : summary_.ranks) {
    expect_sound_shares(rank);
    EXPECT_GT(rank.bytes_per_iteration, 0);
    EXPECT_LE(rank.peak_rss_bytes, summary_.peak_rss_bytes);
  }
  EXPECT_DOUBLE_EQ(
      summary_.bytes_per_iteration,
      (summary_.ranks[0].bytes_per_iteration + summary_.ranks[1].bytes_per_iteration) / 2);
  EXPECT_LE(summary_.seconds_per_iteration.p50, summary_.seconds_per_iteration.p90);
}

TEST(RunFolder, ANewRunReplacesAnOldOne) {
  const testing::TemporaryFolder folder;
  TrainConfig config = small_job();
  config.run_dir = folder.path();
  train_on_threads(config);
  config.iterations = 3;
  train_on_threads(config);
  EXPECT_EQ(metrics_of(folder.path(), "iteration").size(), 3u);
  EXPECT_EQ(run::read_summary(folder.path()).iterations, 3u);
}

TEST(RunFolder, ANewRunRemovesTheOldSummary) {
  const testing::TemporaryFolder folder;
  folder.write("summary.json", "{}");
  const run::RunFolder begun(folder.path(), to_json(small_job()), {});
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "summary.json"));
  testing::expect_error<FileError>([&] { run::read_summary(folder.path()); },
                                   {"summary.json: cannot open: No such file"});
}

TEST(RunFolder, ANanLossIsReadBackAsNan) {
  const testing::TemporaryFolder folder;
  run::Summary summary;
  summary.train_loss = summary.test_loss = std::numeric_limits<double>::quiet_NaN();
  summary.ranks.emplace_back().train_loss = std::numeric_limits<double>::quiet_NaN();
  folder.write("summary.json", to_json(summary).dump());
  const run::Summary read = run::read_summary(folder.path());
  EXPECT_TRUE(std::isnan(read.train_loss));
  EXPECT_TRUE(std::isnan(read.test_loss));
  EXPECT_TRUE(std::isnan(read.ranks.at(0).train_loss));
}

TEST(RunFolder, ANewRunRemovesTheOldReport) {
  const testing::TemporaryFolder folder;
  folder.write("report.html", "of another run");
  const run::RunFolder begun(folder.path(), to_json(small_job()), {});
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "report.html"));
}

TEST(RunFolder, AMalformedSummaryIsRefused) {
  const testing::TemporaryFolder folder;
  folder.write("summary.json", "{\"method\": ");
  testing::expect_error<FileError>([&] { run::read_summary(folder.path()); },
                                   {"summary.json: not valid JSON"});
  folder.write("summary.json", "{\"method\": 7}");
  testing::expect_error<FileError>([&] { run::read_summary(folder.path()); },
                                   {"summary.json: not a summary that this version can read"});
}

}  // namespace
}  // namespace lockstep::internal::train
