// The findings of comparisons with made-up measurements.
#include "models/safetensors.h"
#include "study/compare.h"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace lockstep::internal::study {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kBatch = 12;

/// A run with this time per iteration and these bytes moved by rank 0.
ComparedRun measured(const std::string& name, double seconds, double bytes = 0,
                     double exposed = 0) {
  ComparedRun run{.name = name, .summary = {}};
  run.summary.workers = name == "alone" ? 1 : 2;
  run.summary.global_batch = static_cast<std::size_t>(kBatch);
  run.summary.seconds_per_iteration = {seconds, seconds, seconds};
  run.summary.images_per_second = kBatch / seconds;
  run.summary.exposed_communication_share = exposed;
  run.summary.weights_sha256 = name;
  run.summary.verdict = "Verdict of " + name + ".";
  run.summary.ranks.resize(2);
  run.summary.ranks[0].bytes_per_iteration = bytes;
  return run;
}

/// local-sgd with four workers: three of four iterations take `fast`, one takes `slow`.
ComparedRun local_sgd(double fast, double slow) {
  ComparedRun run = measured("local-sgd", (3 * fast + slow) / 4);
  run.inexactness = "workers train apart between averages of the weights";
  run.averages_every = 4;
  run.summary.seconds_per_iteration.p50 = fast;
  run.summary.seconds_per_iteration.p90 = slow;
  return run;
}

/// The run with these rates in its repetitions; the median is its own.
ComparedRun repeated(ComparedRun run, const std::vector<double>& factors) {
  for (double factor : factors) {
    run.repetitions.push_back({run.name, run.summary});
    run.repetitions.back().summary.images_per_second *= factor;
  }
  return run;
}

Comparison comparison_of(std::vector<ComparedRun> runs) {
  return {.runs = std::move(runs), .machine = {.cores = 4}};
}

TEST(CompareFindings, NameTheFastestMethodAndTheReasons) {
  const Comparison comparison = comparison_of(
      {measured("alone", 0.03), measured("p2p", 0.02, 3e6, 0.5), measured("ddp", 0.012, 1e6, 0.1)});
  EXPECT_EQ(comparison.fastest()->name, "ddp");
  EXPECT_EQ(comparison.slowest()->name, "p2p");
  EXPECT_DOUBLE_EQ(comparison.speedup(comparison.runs[2]), 2.5);
  EXPECT_THAT(
      verdict_of(comparison),
      ::testing::StartsWith(
          "ddp is the fastest method with 1000 images/s: 1.67 times as fast as p2p with 600 "
          "images/s. One worker alone trains 400 images/s: the speed-up of ddp is 2.50."));
  const std::vector<std::string> sentences = sentences_of(comparison);
  EXPECT_THAT(sentences,
              Contains("Reasons why ddp is faster than p2p: rank 0 moves 3.00 MB per iteration "
                       "with p2p, 1.00 MB with "
                       "ddp; moving gradients and waiting take 10.0 ms per iteration with p2p, "
                       "1.20 ms with ddp."));
  EXPECT_THAT(sentences, Contains("ddp: Verdict of ddp."));
}

TEST(CompareFindings, GiveNoReasonsForNoise) {
  const Comparison comparison =
      comparison_of({measured("alone", 0.03), measured("p2p", 0.0203, 3e6, 0.5),
                     measured("ddp", 0.02, 1e6, 0.1)});
  EXPECT_THAT(verdict_of(comparison), HasSubstr("p2p is within noise of ddp"));
  EXPECT_THAT(sentences_of(comparison), Not(Contains(HasSubstr("Reasons why"))));
}

TEST(CompareFindings, RankByTheMeanAndLocalSgdApart) {
  // By the median local-sgd would be 3.6 times as fast as ddp; its mean is the longer one.
  const Comparison comparison = comparison_of(
      {measured("alone", 0.0026), measured("ddp", 0.002), local_sgd(0.00055, 0.0077)});
  EXPECT_EQ(comparison.fastest()->name, "ddp");
  EXPECT_LT(comparison.speedup(comparison.runs[2]), 1.2);
  EXPECT_THAT(verdict_of(comparison),
              ::testing::StartsWith("ddp trains 6000 images/s. local-sgd is not exact and is not "
                                    "faster. One worker alone trains"));
  EXPECT_THAT(
      sentences_of(comparison),
      Contains(HasSubstr("local-sgd (mean 2.34 ms, median 550 µs) averages weights in one of "
                         "4 iterations only")));
}

TEST(CompareFindings, SayWhatAFasterMethodGivesUp) {
  const std::string verdict = verdict_of(
      comparison_of({measured("alone", 0.004), measured("ddp", 0.004), local_sgd(0.001, 0.005)}));
  EXPECT_THAT(verdict,
              HasSubstr("local-sgd is 2.00 times as fast as ddp with 6000 images/s, but not "
                        "exact: workers train apart"));
  EXPECT_THAT(verdict, HasSubstr("the speed-up of ddp is 1.00"));
}

TEST(CompareFindings, CrownNoMethodIfOneRepetitionIsNoisy) {
  const Comparison comparison = comparison_of({repeated(measured("alone", 0.03), {1, 0.99, 1.01}),
                                               repeated(measured("p2p", 0.022), {1, 0.98, 1.02}),
                                               repeated(measured("ddp", 0.02), {1, 0.5, 1.04})});
  EXPECT_EQ(comparison.ranking().fastest(), nullptr);
  EXPECT_THAT(
      verdict_of(comparison),
      AllOf(HasSubstr("within noise"), HasSubstr("ddp, which trains 600 images/s (300 to 624 in 3 "
                                                 "repetitions)")));
  const TextTable table = table_of(comparison);
  EXPECT_THAT(table.rows[2], ::testing::IsSupersetOf({"600", "300", "624"}));
}

TEST(CompareFindings, ShowAStragglerAsTheSlowestMethodsReason) {
  // Every iteration waits for a slow worker: the mean is near the median, so only the rate tells.
  const Comparison comparison = comparison_of(
      {measured("alone", 0.03), measured("ddp", 0.03, 1e6, 0.1), measured("ring", 0.09, 1e6, 0.7)});
  EXPECT_THAT(verdict_of(comparison), HasSubstr("3.00 times as fast as ring"));
  EXPECT_THAT(
      sentences_of(comparison),
      Contains("Reasons why ddp is faster than ring: moving gradients and waiting take 63.0 ms per "
               "iteration with ring, 3.00 ms with ddp."));
  EXPECT_THAT(sentences_of(comparison), Not(Contains(HasSubstr("differs from the median"))));
}

TEST(CompareFindings, ExplainSpeedUpsBeyondTheCores) {
  Comparison comparison =
      comparison_of({measured("alone", 0.03), measured("ring", 0.004), measured("ddp", 0.002)});
  for (std::size_t i : {1, 2}) comparison.runs[i].summary.workers = 4;
  comparison.runs[0].summary.threads = 2;
  comparison.machine.cores = 2;
  EXPECT_THAT(
      verdict_of(comparison),
      HasSubstr(
          "the speed-up of ddp is 15.00. 2 cores explain a speed-up of at most 1, exceeded by "
          "ring (7.50) and ddp (15.00). Possible reasons: 2 threads do not make one worker "
          "2 times as fast, least of all with small layers; a worker's smaller part of the "
          "batch fits its caches better."));
  comparison.runs[0].summary.seconds_per_iteration = {0.03, 0.002, 0.003};
  comparison.machine.load = 3;
  EXPECT_THAT(
      verdict_of(comparison),
      HasSubstr("Possible reasons: the baseline ran unevenly (mean iteration 30.0 ms, median 2.00 "
                "ms), as on a busy machine; other programs were running;"));
  EXPECT_THAT(sentences_of(comparison), Contains(HasSubstr("3.0 threads were busy on 2 cores")));
}

TEST(CompareFindings, AcceptSpeedUpsThatTheCoresExplain) {
  const Comparison comparison = comparison_of({measured("alone", 0.03), measured("ddp", 0.0145)});
  EXPECT_THAT(verdict_of(comparison), Not(HasSubstr("Possible reasons")));
}

TEST(CompareFindings, SayFirstWhichMethodsDiverged) {
  Comparison comparison =
      comparison_of({measured("alone", 0.03), measured("ring", 0.02), measured("ddp", 0.015)});
  for (std::size_t i : {1, 2}) {
    comparison.runs[i].summary.bottleneck.kind = observe::Limit::diverged;
    comparison.runs[i].summary.verdict = "Diverged: the training loss is 900 in iteration 7.";
  }
  EXPECT_THAT(
      verdict_of(comparison),
      ::testing::StartsWith("ring and ddp diverged. ring: Diverged: the training loss is 900 "
                            "in iteration 7. ddp is the fastest method"));
  EXPECT_THAT(sentences_of(comparison), Not(Contains(HasSubstr("Diverged"))));
}

TEST(CompareFindings, ExplainWhyBatchNormSeparatesTheCurves) {
  Comparison comparison = comparison_of({measured("alone", 0.03), measured("ddp", 0.02)});
  comparison.runs[1].weights_difference = 0.1;
  for (ComparedRun& run : comparison.runs) run.summary.buffers_sha256 = "of some statistics";
  EXPECT_THAT(sentences_of(comparison).front(),
              AllOf(HasSubstr("statistics of its own images"),
                    HasSubstr("--sync-bn uses the statistics of the whole")));
  comparison.sync_bn = true;
  EXPECT_THAT(sentences_of(comparison).front(),
              AllOf(HasSubstr("all workers normalise with the statistics of the whole"),
                    HasSubstr("round differently"), Not(HasSubstr("its own images"))));
  comparison.sync_bn = false;
  for (ComparedRun& run : comparison.runs) run.summary.buffers_sha256 = models::weights_sha256({});
  EXPECT_THAT(sentences_of(comparison).front(),
              ::testing::StartsWith("ddp ended with different weights"));
}

}  // namespace
}  // namespace lockstep::internal::study
