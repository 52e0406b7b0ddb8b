// Comparing the weights of two files, and whole trainings by every method.
#include "study/compare.h"

#include <lockstep/error.h>

#include "models/safetensors.h"
#include "models/stored_tensors.h"
#include "study/mistakes.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "train/training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <gmock/gmock.h>

namespace lockstep::internal::study {
namespace {

using models::stored;
using models::StoredTensor;

class Difference : public ::testing::Test {
 protected:
  double between(const std::vector<StoredTensor>& a, const std::vector<StoredTensor>& b) {
    models::write_safetensors(folder_.path() / "a", a);
    models::write_safetensors(folder_.path() / "b", b);
    return relative_difference(folder_.path() / "a", folder_.path() / "b");
  }

  testing::TemporaryFolder folder_;
};

TEST_F(Difference, IsTheDistanceRelativeToTheFirst) {
  // |(3, 4)| is 5, and the second file is off by (0, 1) and (1).
  EXPECT_DOUBLE_EQ(between({stored<float>("w", {2}, {3, 4}), stored<double>("b", {1}, {0})},
                           {stored<float>("w", {2}, {3, 5}), stored<double>("b", {1}, {1})}),
                   std::sqrt(2.0) / 5);
}

TEST_F(Difference, OfEqualFilesIsZero) {
  EXPECT_EQ(between({stored<float>("w", {2}, {3, 4})}, {stored<float>("w", {2}, {3, 4})}), 0);
}

TEST_F(Difference, FromNothingIsTheDistanceItself) {
  EXPECT_DOUBLE_EQ(between({stored<float>("w", {2}, {0, 0})}, {stored<float>("w", {2}, {3, 4})}),
                   5);
}

TEST_F(Difference, LeavesOutIntegers) {
  EXPECT_EQ(between({stored<float>("w", {1}, {1}), stored<std::int64_t>("batches", {}, {1})},
                    {stored<float>("w", {1}, {1}), stored<std::int64_t>("batches", {}, {2})}),
            0);
}

TEST_F(Difference, NeedsTheSameTensors) {
  const std::vector<StoredTensor> a{stored<float>("w", {2}, {1, 2})};
  auto expect_refused = [&](const std::vector<StoredTensor>& b) {
    testing::expect_error<Error>([&] { between(a, b); }, {"do not hold the same tensors"});
    testing::expect_error<Error>([&] { between(b, a); }, {"do not hold the same tensors"});
  };
  expect_refused({});
  expect_refused({stored<float>("v", {2}, {1, 2})});
  expect_refused({stored<float>("w", {1, 2}, {1, 2})});
  expect_refused({stored<double>("w", {2}, {1, 2})});
  expect_refused({a[0], stored<float>("x", {1}, {1})});
}

TEST(Compare, TrainsOneWorkerAndThenEveryMethodToTheSameWeights) {
  const testing::TemporaryFolder folder;
  train::TrainConfig job = train::small_job();
  job.workers = 2;
  job.iterations = 5;
  job.run_dir = folder.path();
  std::vector<std::pair<std::string, int>> started;
  const Comparison comparison =
      compare(job, {"gather-scatter", "ring", "ddp"}, [&](const train::TrainConfig& config) {
        started.emplace_back(config.run_dir.filename(), config.workers);
        return train::train_on_threads(config);
      });
  EXPECT_EQ(started, (std::vector<std::pair<std::string, int>>{
                         {"alone", 1}, {"gather-scatter", 2}, {"ring", 2}, {"ddp", 2}}));
  EXPECT_TRUE(comparison.all_agree());
  // A sum of two addends does not depend on their order: two workers give the same bits with every
  // method.
  const std::vector<std::string> sentences = sentences_of(comparison);
  EXPECT_THAT(sentences, ::testing::Contains(::testing::HasSubstr("loss curves coincide")));
  EXPECT_THAT(sentences, ::testing::Contains(
                             ::testing::HasSubstr("same order: gather-scatter, ring and ddp")));
  EXPECT_LT(comparison.runs[3].loss_difference, 1e-5);
  const TextTable table = table_of(comparison);
  ASSERT_EQ(table.rows.size(), 4u);
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());

  const nlohmann::json runs = to_json(comparison).at("runs");
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[0].at("weights_difference"), 0);
  EXPECT_EQ(runs[2].at("method"), "ring");
  EXPECT_EQ(runs[2].at("sync"), "all-reduce");
  for (const nlohmann::json& run : runs) {
    EXPECT_EQ(run.at("iterations"), 5);
    EXPECT_EQ(run.at("ranks").size(), run.at("workers"));
  }
}

TEST(Compare, DetectsAMethodWithDifferentWeights) {
  const testing::TemporaryFolder folder;
  train::TrainConfig job = train::small_job();
  job.iterations = 2;
  job.run_dir = folder.path();
  const Comparison comparison = compare(job, {"p2p", "ddp"}, [](const train::TrainConfig& config) {
    train::TrainConfig changed = config;
    if (config.sync == "p2p") changed.learning_rate *= 1.01;
    return train::train_on_threads(changed);
  });
  ASSERT_EQ(comparison.runs.size(), 3u);
  EXPECT_GT(comparison.runs[1].weights_difference, kSameWeights);
  EXPECT_EQ(comparison.runs[2].weights_difference, 0);
  EXPECT_FALSE(comparison.all_agree());
}

/// A run with this time per iteration and these bytes moved by rank 0.
ComparedRun measured(const std::string& name, double seconds, double bytes, double exposed) {
  ComparedRun run{.name = name, .summary = {}};
  run.summary.workers = name == "alone" ? 1 : 2;
  run.summary.seconds_per_iteration = {seconds, seconds, seconds};
  run.summary.exposed_communication_share = exposed;
  run.summary.weights_sha256 = name;
  run.summary.ranks.resize(2);
  run.summary.ranks[0].bytes_per_iteration = bytes;
  return run;
}

TEST(Compare, NamesTheFastestMethodAndTheReasons) {
  const Comparison comparison{{measured("alone", 0.03, 0, 0), measured("p2p", 0.02, 3e6, 0.5),
                               measured("ddp", 0.012, 1e6, 0.1)}};
  EXPECT_EQ(comparison.fastest()->name, "ddp");
  EXPECT_EQ(comparison.slowest()->name, "p2p");
  EXPECT_DOUBLE_EQ(comparison.speedup(comparison.runs[2]), 2.5);
  EXPECT_THAT(sentences_of(comparison),
              ::testing::IsSupersetOf(std::vector<::testing::Matcher<std::string>>{
                  "ddp is fastest with 12 ms per iteration, 1.67 times as fast as p2p (slowest).",
                  "Reasons: rank 0 moves 3 MB per iteration with p2p, 1 MB with ddp; exposed "
                  "communication takes 10 ms per iteration with p2p, 1.2 ms with ddp."}));
}

TEST(Compare, TreatsNearlyEqualTimesAsEqual) {
  const Comparison comparison{{measured("alone", 0.03, 0, 0), measured("p2p", 0.0203, 3e6, 0.5),
                               measured("ddp", 0.02, 1e6, 0.1)}};
  EXPECT_EQ(sentences_of(comparison).back(), "All methods take the same time within 5 %.");
}

TEST(Compare, ExplainsWhyBatchNormSeparatesTheCurves) {
  Comparison comparison{{measured("alone", 0.03, 0, 0), measured("ddp", 0.02, 1e6, 0.1)}};
  comparison.runs[1].weights_difference = 0.1;
  for (ComparedRun& run : comparison.runs) run.summary.buffers_sha256 = "of some statistics";
  EXPECT_THAT(sentences_of(comparison).front(),
              ::testing::AllOf(::testing::HasSubstr("statistics of its own images"),
                               ::testing::HasSubstr("--sync-bn uses the statistics of the whole")));
  comparison.sync_bn = true;
  EXPECT_THAT(sentences_of(comparison).front(),
              ::testing::AllOf(
                  ::testing::HasSubstr("all workers normalise with the statistics of the whole"),
                  ::testing::HasSubstr("round differently"),
                  ::testing::Not(::testing::HasSubstr("its own images"))));
  comparison.sync_bn = false;
  for (ComparedRun& run : comparison.runs) run.summary.buffers_sha256 = models::weights_sha256({});
  EXPECT_THAT(sentences_of(comparison).front(),
              ::testing::StartsWith("ddp ended with different weights"));
}

TEST(Mistakes, AreTrainedBesideTheCorrectVariant) {
  const testing::TemporaryFolder folder;
  train::TrainConfig job = train::small_job();
  job.workers = 2;
  job.iterations = 2;
  job.run_dir = folder.path();
  const std::vector<TrainedVariant> variants = train_variants(job, &train::train_on_threads);
  ASSERT_EQ(variants.size(), train::mistake_names().size() + 3);
  EXPECT_EQ(variants.front().variant.right, "");
  EXPECT_EQ(variants.back().variant.right, variants[variants.size() - 2].variant.name);
  EXPECT_EQ(variants.back().summary.global_batch, 2 * job.batch);
  std::size_t drifted = 0;
  for (const TrainedVariant& trained : variants) drifted += trained.different_weights == 2;
  EXPECT_EQ(drifted, 2u);
  const nlohmann::json json = to_json(variants);
  EXPECT_EQ(json.at("kind"), "mistakes");
  EXPECT_EQ(json.at("runs").size(), variants.size());
  EXPECT_EQ(json.at("notes").size(), variants.size() - 2 + 1);  // two are correct, one concludes
}

TEST(Compare, PassesOnTheFailureOfARun) {
  const testing::TemporaryFolder folder;
  train::TrainConfig job = train::small_job();
  job.run_dir = folder.path();
  testing::expect_error<Error>(
      [&] {
        compare(job, {"ddp"},
                [](const train::TrainConfig&) -> run::Summary { throw Error("rank 1 died"); });
      },
      {"rank 1 died"});
}

}  // namespace
}  // namespace lockstep::internal::study
