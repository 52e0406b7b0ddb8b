// The results of epochs, from records whose sums are known; and results as a summary stores them.
#include "run/epochs.h"

#include "base/files.h"
#include "run/metrics_file.h"
#include "run/summary.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lockstep::internal::run {
namespace {

Record record(int epoch, double loss_sum, double correct, double samples, double seconds) {
  Record record;
  record.epoch = epoch;
  record.iteration = epoch;
  record.loss_sum = loss_sum;
  record.correct = correct;
  record.samples = samples;
  record.times.total = seconds;
  return record;
}

/// Rank 1 is slower and has fewer images; it is lost after epoch 1.
Epochs made_up() {
  Epochs epochs;
  epochs.add(1, record(1, 20, 5, 10, 4));
  epochs.add(0, record(1, 60, 15, 30, 2));
  epochs.add(0, record(2, 10, 38, 40, 2));
  return epochs;
}

TEST(Epochs, SumsUpTheRecordsOfARank) {
  const Record sum = sum_of(std::vector{record(3, 2, 1, 4, 0.5), record(3, 1, 2, 2, 0.25)});
  EXPECT_EQ(sum.epoch, 3);
  EXPECT_EQ(sum.loss_sum, 3);
  EXPECT_EQ(sum.correct, 3);
  EXPECT_EQ(sum.samples, 6);
  EXPECT_EQ(sum.times.total, 0.75);
}

TEST(Epochs, OfARankAreThoseThatItTookPartIn) {
  const std::vector<EpochResults> its = made_up().of_rank(1);
  ASSERT_EQ(its.size(), 1u);
  EXPECT_EQ(its[0].epoch, 1u);
  EXPECT_EQ(its[0].train_loss, 2);
  EXPECT_EQ(its[0].train_accuracy, 0.5);
  EXPECT_EQ(its[0].seconds, 4);
  EXPECT_EQ(its[0].images_per_second, 2.5);
}

TEST(Epochs, OfAllWeightLossesByImagesAndAverageSeconds) {
  const std::vector<EpochResults> all = made_up().of_all();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].train_loss, 80.0 / 40);
  EXPECT_EQ(all[0].train_accuracy, 0.5);
  EXPECT_EQ(all[0].seconds, 3);
  EXPECT_EQ(all[0].images_per_second, 40.0 / 3);
  EXPECT_EQ(all[1].train_accuracy, 0.95);
}

TEST(Epochs, ALossAddedInAnotherOrderReplacesTheSum) {
  Epochs epochs = made_up();
  epochs.set_loss_sum(1, 44);
  EXPECT_EQ(epochs.of_all()[0].train_loss, 1.1);
  EXPECT_EQ(epochs.of_rank(0)[0].train_loss, 2);
}

TEST(Epochs, AreReadFromTheirLines) {
  const testing::TemporaryFolder folder;
  std::string lines;
  for (const char* kind : {"iteration", "epoch", "test"})
    lines += metrics_line(kind, 2, record(1, 20, 5, 10, 4)).dump() + "\n";
  lines += "{\"kind\":\"epoch\"\n" + metrics_line("epoch", 2, record(2, 0, 0, 0, 1)).dump() + "\n";
  write_file(folder.path() / "metrics.jsonl", lines);
  const Epochs epochs = read_epochs(folder.path() / "metrics.jsonl");
  EXPECT_EQ(epochs.ranks(), std::vector{2});
  ASSERT_EQ(epochs.of_all().size(), 1u) << "the others are no epoch, damaged, or empty";
  EXPECT_EQ(epochs.of_all()[0].train_loss, 2);
}

TEST(Epochs, ATableHasARowForEachRankAndOneForAll) {
  const Epochs epochs = made_up();
  const TextTable table =
      epochs_table(epochs.of_all(), {{0, epochs.of_rank(0)}, {1, epochs.of_rank(1)}}, 100);
  EXPECT_EQ(table.rows, (std::vector<std::vector<std::string>>{
                            {"1", "0", "2.0000", "50.00", "2.000", "15"},
                            {"1", "1", "2.0000", "50.00", "4.000", "2"},
                            {"1", "all", "2.0000", "50.00", "3.000", "13"},
                            {"2", "0", "0.2500", "95.00", "2.000", "20"},
                            {"2", "all", "0.2500", "95.00", "2.000", "20"}}));
}

TEST(Epochs, ATableOfOneWorkerHasNoRowForAll) {
  const Epochs epochs = made_up();
  const TextTable table = epochs_table(epochs.of_rank(0), {{0, epochs.of_rank(0)}}, 100);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[1][1], "0");
}

TEST(Summary, WritesTestResultsAsACount) {
  EXPECT_EQ((TestResults{2.3, 0.105, 1050, 10000}.text()), "1050/10000 (10.5 %)");
  EXPECT_EQ((TestResults{2.3, 0.9857, 9857, 10000}.text()), "9857/10000 (98.57 %)");
  EXPECT_EQ((TestResults{0, 1, 40, 40}.text()), "40/40 (100 %)");
}

TEST(Summary, ReadsEpochsTestsAndBytesBack) {
  Summary summary;
  summary.epoch_results = made_up().of_all();
  summary.epoch_results[1].train_loss = std::numeric_limits<double>::quiet_NaN();
  summary.test_correct = 1050;
  summary.test_images = 10000;
  summary.exchanged["votes"] = 1ull << 40;
  summary.ranks.resize(2);
  summary.ranks[1].test = TestResults{2.5, 0.25, 1, 4};
  const nlohmann::json json = nlohmann::json::parse(to_json(summary).dump());
  EXPECT_EQ(json.at("average_train_losses"), (nlohmann::json{2.0, nullptr}));
  EXPECT_FALSE(json.at("ranks")[0].contains("test_images"));
  const Summary read = summary_from_json(json, "summary.json");
  EXPECT_EQ(read.epoch_results[0].images_per_second, summary.epoch_results[0].images_per_second);
  EXPECT_TRUE(std::isnan(read.epoch_results[1].train_loss));
  EXPECT_EQ(read.test_correct, 1050u);
  EXPECT_EQ(read.exchanged, summary.exchanged);
  EXPECT_FALSE(read.ranks[0].test);
  ASSERT_TRUE(read.ranks[1].test);
  EXPECT_EQ(read.ranks[1].test->text(), "1/4 (25 %)");
}

}  // namespace
}  // namespace lockstep::internal::run
