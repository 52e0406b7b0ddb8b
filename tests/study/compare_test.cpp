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
  const Comparison comparison = compare(
      job, {"gather-scatter", "ring", "ddp"},
      [&](const train::TrainConfig& config) {
        started.emplace_back(config.run_dir.filename(), config.workers);
        return train::train_on_threads(config);
      },
      1);
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
  EXPECT_EQ(runs[2].at("sync"), "ring");
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
  const Comparison comparison = compare(
      job, {"p2p", "ddp"},
      [](const train::TrainConfig& config) {
        train::TrainConfig changed = config;
        if (config.sync == "p2p") changed.learning_rate *= 1.01;
        return train::train_on_threads(changed);
      },
      1);
  ASSERT_EQ(comparison.runs.size(), 3u);
  EXPECT_GT(comparison.runs[1].weights_difference, kSameWeights);
  EXPECT_EQ(comparison.runs[2].weights_difference, 0);
  EXPECT_FALSE(comparison.all_agree());
}

TEST(Compare, RepeatsAllVariantsInTurn) {
  const testing::TemporaryFolder folder;
  train::TrainConfig job = train::small_job();
  job.workers = 2;
  job.iterations = 2;
  job.run_dir = folder.path();
  std::vector<std::string> started;
  const auto run = [&](const train::TrainConfig& config) {
    run::Summary summary = train::train_on_threads(config);
    started.push_back(config.run_dir.lexically_relative(folder.path()));
    summary.images_per_second = 100.0 * static_cast<double>(started.size() % 4);
    return summary;
  };
  const Comparison comparison = compare(job, {"ddp"}, run, 3);
  EXPECT_EQ(started, (std::vector<std::string>{"alone", "ddp", "repeat-2/alone", "repeat-2/ddp",
                                               "repeat-3/alone", "repeat-3/ddp"}));
  // ddp had 200, 0 and 200 images/s, one worker 100, 300 and 100.
  const nlohmann::json json = to_json(comparison);
  const nlohmann::json& ddp = json.at("runs")[1];
  EXPECT_EQ(ddp.at("images_per_second"), 200);
  EXPECT_EQ(ddp.at("folder"), "ddp");
  EXPECT_EQ(ddp.at("speedup"), 2);
  ASSERT_EQ(ddp.at("repetitions").size(), 3u);
  EXPECT_EQ(ddp.at("repetitions")[1].at("folder"), "repeat-2/ddp");
  EXPECT_EQ(ddp.at("repetitions")[1].at("images_per_second"), 0);
  const TextTable table = table_of(comparison);
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
  EXPECT_THAT(table.column_names(), ::testing::IsSupersetOf({"lowest", "highest"}));
}

TEST(Compare, RepeatsShortRoundsOnly) {
  EXPECT_EQ(usual_rounds(0), 3);
  EXPECT_EQ(usual_rounds(20), 3);
  EXPECT_EQ(usual_rounds(25), 2);
  EXPECT_EQ(usual_rounds(31), 1);
  EXPECT_EQ(usual_rounds(600), 1);
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
