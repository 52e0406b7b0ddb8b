// Scaling studies: the plan, the arithmetic of speed-up, and the verdict.
#include "study/scale.h"

#include <lockstep/error.h>

#include "study/scale_report.h"
#include "study/step_sizes.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "train/training.h"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace lockstep::internal::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ScaleJob job_of(std::vector<int> workers, std::vector<std::size_t> batches) {
  ScaleJob job;
  job.workers = std::move(workers);
  job.batches = std::move(batches);
  job.images = 1000;
  job.machine.cores = 4;
  job.job.run_dir = "study";
  return job;
}

std::vector<std::string> names_of(const std::vector<PlannedRun>& runs) {
  std::vector<std::string> names;
  for (const PlannedRun& run : runs) names.push_back(run.name);
  return names;
}

TEST(ScalePlan, HasAllWorkersOfEachBatch) {
  const auto runs = plan_scaling(job_of({4, 1}, {16, 64}));
  EXPECT_THAT(names_of(runs), ElementsAre("w1-b16", "w4-b16", "w1-b64", "w4-b64"));
  EXPECT_EQ(runs[3].config.workers, 4);
  EXPECT_EQ(runs[3].config.batch, 256u);
  EXPECT_EQ(runs[3].config.run_dir, "study/w4-b64");
  for (const PlannedRun& run : runs) EXPECT_EQ(run.config.limit, 1000u);
}

TEST(ScalePlan, WeakGivesEveryWorkerTheSameImages) {
  ScaleJob job = job_of({1, 2, 4}, {16});
  job.weak = true;
  const auto runs = plan_scaling(job);
  EXPECT_EQ(runs[0].config.limit, 250u);
  EXPECT_EQ(runs[1].config.limit, 500u);
  EXPECT_EQ(runs[2].config.limit, 1000u);
  EXPECT_EQ(runs[2].images, 1000u);
}

TEST(ScalePlan, RunsOneWorkerOnceForAllMethods) {
  ScaleJob job = job_of({1, 2}, {16});
  job.methods = {"ddp", "ring"};
  EXPECT_THAT(names_of(plan_scaling(job)), ElementsAre("w1-b16", "w2-b16-ddp", "w2-b16-ring"));
}

TEST(ScalePlan, RefusesInvalidLists) {
  auto refused = [](const ScaleJob& job, std::string_view part) {
    testing::expect_error<UsageError>([&] { plan_scaling(job); }, {part});
  };
  refused(job_of({}, {16}), "--workers is empty");
  refused(job_of({1, 0}, {16}), "--workers has 0");
  refused(job_of({1, 2, 1}, {16}), "--workers names 1 twice");
  refused(job_of({1}, {}), "--batches is empty");
  refused(job_of({1}, {0}), "--batches has 0");
  refused(job_of({1}, {16, 16}), "--batches names 16 twice");
  ScaleJob job = job_of({1}, {16});
  job.methods = {"ddp", "snail"};
  job.workers = {2};
  refused(job, "unknown sync method 'snail'");
}

TEST(ScalePlan, SaysWhatToDoIfThereAreTooFewImages) {
  testing::expect_error<UsageError>(
      [] {
        plan_scaling(job_of({1, 4}, {251, 100}));
      },
      {"4 workers with 251 images each need 1004 images per step, but an epoch has 1000",
       "--data synthetic:1x32x32,train=1004"});
  EXPECT_EQ(plan_scaling(job_of({4}, {250})).size(), 1u) << "a step may take all images";
}

/// A run of ten iterations with this time each.
ScaledRun measured(int workers, std::size_t batch, double milliseconds, double exposed = 0,
                   double wait = 0) {
  ScaledRun run;
  run.plan.name = "w" + std::to_string(workers);
  run.plan.batch = batch;
  run.plan.images = 1000;
  run.plan.method = "ddp";
  run.summary.method = run.summary.sync = "ddp";
  run.summary.workers = workers;
  run.summary.threads = 1;
  run.summary.global_batch = batch * static_cast<std::size_t>(workers);
  run.summary.iterations = 10;
  run.summary.seconds_per_iteration = {milliseconds / 1000, milliseconds / 1000, 0};
  run.summary.communication_share = run.summary.exposed_communication_share = exposed;
  run.summary.wait_share = wait;
  run.summary.compute_share = 1 - exposed;
  run.seconds_per_epoch = seconds_of_epoch(run.summary, run.plan.images);
  return run;
}

Scaling scaling_of(std::vector<ScaledRun> runs) {
  Scaling scaling{.job = job_of({}, {}), .runs = std::move(runs)};
  for (ScaledRun& run : scaling.runs) {
    run.oversubscribed = run.summary.workers > scaling.job.machine.cores;
    auto add = [](auto& list, auto value) {
      if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
    };
    add(scaling.job.workers, run.summary.workers);
    add(scaling.job.batches, run.plan.batch);
  }
  compare_with_baseline(scaling.runs);
  scaling.baseline_workers = scaling.runs.front().summary.workers;
  return scaling;
}

TEST(SecondsOfEpoch, CountTheFirstIterationWithTheMedianTime) {
  run::Summary summary;
  summary.global_batch = 400;  // 400, 400, 200
  summary.iterations = 3;
  // The second took 4 s, the third, which is smaller, 2 s.
  summary.seconds_per_iteration = {3, 3, 4};
  EXPECT_DOUBLE_EQ(seconds_of_epoch(summary, 1000), 2 * 3 + 3);
  summary.iterations = 6;  // two epochs
  EXPECT_DOUBLE_EQ(seconds_of_epoch(summary, 1000), 6 * 3 / 2.0);
}

TEST(SecondsOfEpoch, AreScaledByTheProcessedImages) {
  run::Summary summary;
  summary.global_batch = 400;
  summary.iterations = 2;
  summary.seconds_per_iteration = {4, 4, 4};
  EXPECT_DOUBLE_EQ(seconds_of_epoch(summary, 1000), 8 * 1000.0 / 800);
  summary.iterations = 4;  // an epoch, and one step of the next
  EXPECT_DOUBLE_EQ(seconds_of_epoch(summary, 1000), 16 * 1000.0 / 1400);
}

TEST(SpeedUp, OfTheSameWorkIsTheRatioOfTimes) {
  const Scaling scaling = scaling_of({measured(1, 10, 10), measured(4, 10, 16)});
  EXPECT_DOUBLE_EQ(scaling.runs[0].speedup, 1);
  EXPECT_DOUBLE_EQ(scaling.runs[1].speedup, 4 * 10 / 16.0);
  EXPECT_DOUBLE_EQ(scaling.runs[1].efficiency, 10 / 16.0);
  EXPECT_DOUBLE_EQ(scaling.runs[0].seconds_per_epoch / scaling.runs[1].seconds_per_epoch,
                   scaling.runs[1].speedup);
}

TEST(SpeedUp, OfMoreWorkCountsIt) {
  std::vector<ScaledRun> runs{measured(1, 10, 10), measured(2, 10, 10)};
  runs[1].plan.images = 2000;
  runs[1].seconds_per_epoch = runs[0].seconds_per_epoch;  // twice the images in the same time
  compare_with_baseline(runs);
  EXPECT_DOUBLE_EQ(runs[1].speedup, 2);
  EXPECT_DOUBLE_EQ(runs[1].efficiency, 1);
}

TEST(SpeedUp, IsRelativeToTheFewestWorkersOfTheSameBatchAndMethod) {
  std::vector<ScaledRun> runs{measured(2, 10, 10), measured(4, 10, 10), measured(2, 10, 20),
                              measured(4, 10, 40), measured(2, 50, 7)};
  for (std::size_t i : {2, 3}) runs[i].summary.method = "ring";
  compare_with_baseline(runs);
  EXPECT_DOUBLE_EQ(runs[1].speedup, 2);
  EXPECT_DOUBLE_EQ(runs[1].efficiency, 1);
  EXPECT_DOUBLE_EQ(runs[3].speedup, 1);
  EXPECT_DOUBLE_EQ(runs[3].efficiency, 0.5);
  EXPECT_DOUBLE_EQ(runs[4].speedup, 1);
}

TEST(Bandwidth, IsComparedByTheTimeOfTheSameBytes) {
  ScaledRun run = measured(2, 10, 10, 0.4);  // 4 ms of communication in each iteration
  run.summary.bytes_per_iteration = 8e6;
  EXPECT_DOUBLE_EQ(run.bandwidth_mbs(), 2000);
  EXPECT_FALSE(run.bandwidth_share());
  run.bench = {.bytes = 7e6, .seconds = 0.001};
  EXPECT_DOUBLE_EQ(run.bench_mbs().value(), 8000);
  EXPECT_DOUBLE_EQ(run.bandwidth_share().value(), 0.25);
}

TEST(Bandwidth, UsesTheBytesOfBenchIfTheRunReportsNone) {
  ScaledRun run = measured(2, 10, 10, 0.4);
  run.bench = {.bytes = 4e6, .seconds = 0.001};
  EXPECT_DOUBLE_EQ(run.bandwidth_mbs(), 1000);
  EXPECT_DOUBLE_EQ(run.bandwidth_share().value(), 0.25);
}

TEST(ScaleVerdict, NamesTheBestTheWorstAndTheLoss) {
  const std::string verdict = scale_verdict(scaling_of(
      {measured(1, 10, 10), measured(4, 10, 25, 0.5), measured(1, 50, 50), measured(4, 50, 51)}));
  EXPECT_THAT(verdict,
              HasSubstr("4 workers are 3.92 times as fast as 1 (98 % of the ideal) with 50 images "
                        "per worker, and 1.60 times (40 %) with 10 images per worker."));
  EXPECT_THAT(verdict, HasSubstr("moving gradients that backward does not hide (50 % of the time"));
  EXPECT_THAT(verdict, HasSubstr("falls below 50 % from 4 workers on with 10 images per worker."));
  EXPECT_THAT(verdict, HasSubstr("Larger batches help"));
  EXPECT_THAT(verdict, Not(HasSubstr("overhead")));
}

TEST(ScaleVerdict, ListsMethodsWithLowEfficiency) {
  std::vector<ScaledRun> runs{measured(1, 10, 10), measured(2, 10, 25), measured(2, 10, 30),
                              measured(1, 50, 50), measured(2, 50, 51), measured(2, 50, 120)};
  for (std::size_t i : {2, 5}) runs[i].summary.method = runs[i].plan.method = "ring";
  Scaling scaling = scaling_of(std::move(runs));
  scaling.job.methods = {"ddp", "ring"};
  const std::string verdict = scale_verdict(scaling);
  EXPECT_THAT(verdict, HasSubstr("98 % of the ideal) with ddp, 50 images per worker, and 0.67 "
                                 "times (33 %) with ring, 10 images per worker."));
  EXPECT_THAT(verdict,
              HasSubstr("below 50 % from 2 workers on (ddp: 10; ring: 10, 50 images per worker)."));
}

TEST(ScaleVerdict, DistinguishesWaitingSlowComputingAndMoving) {
  EXPECT_THAT(scale_verdict(scaling_of({measured(1, 10, 10), measured(2, 10, 20, 0.5, 0.4)})),
              HasSubstr("waiting for the slowest worker (40 %"));
  EXPECT_THAT(scale_verdict(scaling_of({measured(1, 10, 10), measured(2, 10, 20, 0.1)})),
              HasSubstr("computing more slowly"));
}

TEST(ScaleVerdict, LeavesOversubscribedRunsOutOfTheSpeedUp) {
  const std::string verdict =
      scale_verdict(scaling_of({measured(1, 10, 10), measured(4, 10, 10), measured(8, 10, 20)}));
  EXPECT_THAT(verdict, HasSubstr("4 workers are 4.00 times as fast as 1"));
  EXPECT_THAT(verdict,
              HasSubstr("Runs with 8 workers (marked *) have more threads than the 4 cores"));
  EXPECT_THAT(verdict, HasSubstr("overhead, not speed-up"));
  EXPECT_THAT(scale_verdict(scaling_of({measured(1, 10, 10), measured(8, 10, 20)})),
              HasSubstr("No run with more workers has a core for each thread"));
}

TEST(ScaleVerdict, OfASweepOverBatchesIsNotAboutWorkers) {
  EXPECT_EQ(scale_verdict(scaling_of({measured(1, 10, 10), measured(1, 50, 40)})),
            "All runs have 1 worker: they compare batches, not numbers of workers.");
}

TEST(ScaleVerdict, ExplainsSpeedUpsBeyondTheCores) {
  const std::string verdict = scale_verdict(scaling_of({measured(1, 10, 44), measured(2, 10, 20)}));
  EXPECT_THAT(verdict,
              HasSubstr("2 workers are 4.40 times as fast as 1 (220 % of the ideal). 4 cores "
                        "explain a speed-up of at most 2, exceeded by w2 (4.40). Possible "
                        "reasons: the baseline was slowed by other programs."));
  EXPECT_THAT(scale_verdict(scaling_of({measured(1, 10, 20), measured(2, 10, 20)})),
              Not(HasSubstr("Possible reasons")));
}

TEST(ScaleVerdict, RanksMethodsThatAreNotExactApart) {
  std::vector<ScaledRun> runs{measured(1, 10, 10), measured(2, 10, 14), measured(2, 10, 10)};
  runs[2].plan.method = runs[2].plan.config.sync = runs[2].summary.method = "local-sgd";
  Scaling scaling = scaling_of(std::move(runs));
  scaling.job.methods = {"ddp", "local-sgd"};
  const std::string verdict = scale_verdict(scaling);
  EXPECT_THAT(verdict, HasSubstr("2 workers are 1.43 times as fast as 1 (71 % of the ideal)."));
  EXPECT_THAT(verdict,
              HasSubstr("local-sgd with 2 workers and 10 images each has a speed-up of 2.00, "
                        "exact methods at most 1.43; it is not exact: workers train apart"));
}

TEST(ScaleNotes, ExplainTheMeanOfLocalSgd) {
  std::vector<ScaledRun> runs{measured(1, 10, 10)};
  runs[0].summary.sync = "local-sgd";
  runs[0].summary.seconds_per_iteration = {0.02, 0.01, 0.05};
  EXPECT_THAT(scale_notes(scaling_of(std::move(runs))),
              ::testing::Contains(HasSubstr("w1 (mean 20.0 ms, median 10.0 ms) averages weights in "
                                            "one of 4 iterations only")));
}

TEST(ScaleTables, HaveTheFirstTwoEpochsIfTheyAreComplete) {
  std::vector<ScaledRun> runs{measured(1, 10, 10), measured(1, 50, 40)};
  runs[0].epoch_seconds = {{1, 2.0}, {2, 1.0}};
  runs[1].epoch_seconds = {{1, 3.0}};
  runs[0].summary.train_loss = 1.5;
  runs[0].summary.test_accuracy = 0.25;
  const Scaling scaling = scaling_of(std::move(runs));
  const TextTable table = learning_table(scaling);
  EXPECT_THAT(table.rows[0], ElementsAre("1", "10", "2.00", "1.00", "1.5000", "0.0", "25.0"));
  EXPECT_EQ(table.rows[1][3], "–");
  EXPECT_EQ(table.rows[0].size(), table.columns.size());
  EXPECT_THAT(scale_notes(scaling),
              ::testing::Contains(HasSubstr("first epoch takes 2.00 times as long as the second")));
}

TEST(ScaleTables, MarkOversubscribedRuns) {
  const Scaling scaling = scaling_of(
      {measured(1, 10, 10), measured(8, 10, 20), measured(1, 50, 40), measured(8, 50, 60)});
  const TextTable runs = run_table(scaling);
  ASSERT_EQ(runs.rows.size(), 4u);
  EXPECT_EQ(runs.rows[0][0], "1");
  EXPECT_EQ(runs.rows[1][0], "8*");
  for (const auto& row : runs.rows) EXPECT_EQ(row.size(), runs.columns.size());
  const nlohmann::json explain = nlohmann::json(runs).at("explain");
  EXPECT_EQ(explain.size(), runs.columns.size());
  for (const auto& [column, text] : explain.items())
    EXPECT_THAT(runs.column_names(), ::testing::Contains(column));
  const TextTable batches = batch_table(scaling, "ddp");
  EXPECT_THAT(batches.rows[1],
              ElementsAre("8*", "0.250 s, 4.00×", "0.176 s, 4.53×", "0 / 0", "0 / 0"));
  EXPECT_EQ(batches.rows[1].size(), batches.columns.size());
}

TEST(Scale, TrainsEveryWorldSizeAndBenchesItsMessages) {
  const testing::TemporaryFolder folder;
  ScaleJob job = job_of({1, 2}, {8});
  job.job = train::small_job();
  job.job.engine = "torch";  // adds no padding
  job.job.iterations = 4;
  job.job.run_dir = folder.path();
  job.images = 100;
  std::vector<StepSizes> moved;
  const Scaling scaling = scale(
      job, [](const PlannedRun& plan) { return train::train_on_threads(plan.config); },
      [&](const PlannedRun& plan, const run::Summary& summary) {
        moved.push_back(step_sizes_of(summary, plan.config.run_dir));
        return BenchedStep{.bytes = 1, .seconds = 1e-6};
      });
  ASSERT_EQ(scaling.runs.size(), 2u);
  EXPECT_TRUE(scaling.runs[0].epoch_seconds.empty()) << "4 of 13 iterations are no epoch";
  ASSERT_EQ(moved.size(), 1u) << "one worker moves nothing";
  ASSERT_EQ(moved[0].size(), 1u) << "LeNet-5 is one bucket";
  EXPECT_GE(moved[0].begin()->first, 61706 * sizeof(float));
  EXPECT_LT(moved[0].begin()->first, 61706 * sizeof(float) + 10 * 64 + 64);

  const nlohmann::json json = to_json(scaling);
  EXPECT_EQ(json.at("kind"), "scale");
  EXPECT_EQ(json.at("runs")[1].at("folder"), "w2-b8");
  EXPECT_TRUE(json.at("runs")[0].at("bandwidth_share").is_null());
  EXPECT_GT(json.at("runs")[1].at("bandwidth_share"), 0);
  EXPECT_EQ(json.at("scaling").at("points").size(), 2u);
}

TEST(Scale, SkipsNothingIfTheFreeMemoryIsUnknown) {
  const testing::TemporaryFolder folder;
  ScaleJob job = job_of({1, 2}, {8});
  job.job.run_dir = folder.path();
  for (std::uint64_t bytes = 1'000'000'000; bytes < 1'000'000'010; ++bytes) {
    const Scaling scaling = scale(
        job,
        [&](const PlannedRun& plan) {
          run::Summary summary = measured(plan.config.workers, plan.batch, 10).summary;
          summary.peak_rss_bytes = bytes;
          return summary;
        },
        [](const PlannedRun&, const run::Summary&) { return std::nullopt; });
    EXPECT_EQ(scaling.runs.size(), 2u) << bytes;
  }
}

TEST(Scale, SkipsRunsThatDoNotFitIntoMemory) {
  const testing::TemporaryFolder folder;
  ScaleJob job = job_of({1, 2, 4}, {8, 16});
  job.job.run_dir = folder.path();
  job.free_memory = [] { return 5e9; };
  std::vector<std::string> started;
  const Scaling scaling = scale(
      job,
      [&](const PlannedRun& plan) {
        started.push_back(plan.name);
        run::Summary summary = measured(plan.config.workers, plan.batch, 10).summary;
        summary.peak_rss_bytes = plan.batch == 8 ? 1'000'000'000 : 2'000'000'000;
        return summary;
      },
      [](const PlannedRun&, const run::Summary&) { return std::nullopt; });
  EXPECT_THAT(started, ElementsAre("w1-b8", "w2-b8", "w4-b8", "w1-b16", "w2-b16"));
  EXPECT_THAT(scale_notes(scaling),
              ::testing::Contains("w4-b16 was skipped: 4 workers with 16 images each would need "
                                  "8.0 GB of memory, but only 5.0 GB were free."));
  const TextTable batches = batch_table(scaling, "ddp");
  EXPECT_EQ(batches.rows.back()[2], "–");
}

}  // namespace
}  // namespace lockstep::internal::study
