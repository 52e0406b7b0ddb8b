// Iterations whose times can be computed by hand.
#include "predict/iteration.h"

#include <lockstep/error.h>

#include "predict/recorded_runs.h"
#include "predict/scaling.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <gmock/gmock.h>

namespace lockstep::internal::predict {
namespace {

const NetworkModel kFast{.name = "fast", .latency = 1e-6, .per_byte = 0.1e-9};
/// A byte takes a nanosecond, and nothing else takes any time.
const NetworkModel kPlain{.name = "plain", .per_byte = 1e-9};

/// Every all-reduce takes a nanosecond per byte.
double one_nanosecond_per_byte(const Collective& collective, const Cluster&) {
  return 1e-9 * collective.bytes;
}

IterationForecast forecast_of(const std::string& method, const Cluster& cluster,
                              double bucket_bytes = 25 << 20) {
  MethodPlan plan = parse_method_plan(method);
  plan.bucket_bytes = bucket_bytes;
  return forecast(made_up_run(), plan, cluster, one_nanosecond_per_byte);
}

TEST(Iterations, OfOneWorkerAreTheRecordedOnes) {
  for (const std::string& method : sync::method_names()) {
    const IterationForecast alone =
        forecast(made_up_run(), parse_method_plan(method), {.world = {1, 1}, .network = kFast});
    EXPECT_DOUBLE_EQ(alone.seconds(), made_up_run().seconds()) << method;
    EXPECT_EQ(alone.exposed, 0) << method;
  }
}

TEST(Iterations, WithoutOverlapAddAllCommunication) {
  const IterationForecast found = forecast_of("all-reduce", {.world = {4, 1}, .network = kPlain});
  EXPECT_NEAR(found.communication, 60e-3, 1e-9);
  EXPECT_NEAR(found.exposed, 60e-3, 1e-9);
  EXPECT_NEAR(found.seconds(), made_up_run().seconds() + 60e-3, 1e-9);
}

TEST(Iterations, WithDdpHideCommunicationBehindBackward) {
  // One bucket per parameter: d from 25 to 57, c to 73, b from 75 to 83, and a, the last, after the
  // end of backward: from 100 to 104.
  const IterationForecast found = forecast_of("ddp", {.world = {4, 1}, .network = kPlain}, 1 << 20);
  EXPECT_NEAR(found.communication, 60e-3, 1e-5);
  EXPECT_NEAR(found.exposed, 4e-3, 1e-5);
}

TEST(Iterations, WithDdpInLargeBucketsHideLess) {
  // d alone, 25 to 57; c and b, ready at 75, to 99; a from 100 to 104 ... and with all in one
  // bucket behind the first, all but d waits for the end of backward.
  const IterationForecast found =
      forecast_of("ddp", {.world = {4, 1}, .network = kPlain}, 100 << 20);
  EXPECT_NEAR(found.exposed, 28e-3, 1e-5);
}

TEST(Iterations, OnSharedCoresTakeTurns) {
  const Cluster cluster{
      .world = {4, 1}, .network = {.per_byte = 1e-9, .message_cores = 1}, .cores = 2};
  const IterationForecast found = forecast_of("ddp", cluster, 1 << 20);
  EXPECT_NEAR(found.compute, 2 * made_up_run().seconds(), 1e-9);
  // Copies made by cores are not hidden.
  EXPECT_NEAR(found.exposed, 60e-3, 1e-3);
  const Cluster with_room{.world = {4, 1}, .network = cluster.network, .cores = 8};
  EXPECT_NEAR(forecast_of("ddp", with_room, 1 << 20).exposed, 4e-3, 1e-5);
}

TEST(Iterations, DoNotBenefitFromCaches) {
  Cluster cluster{.world = {4, 1}, .network = {.per_byte = 1e-9, .message_cores = 1}, .cores = 2};
  auto communication = [&](const std::string& method) {
    return forecast(made_up_run(), parse_method_plan(method), cluster).communication;
  };
  const std::vector<std::string> methods{"all-reduce", "gather-scatter", "coordinator", "server"};
  std::vector<double> warm;
  for (const std::string& method : methods) warm.push_back(communication(method));
  cluster.network.cache = 1e12;
  cluster.network.far = 2;
  for (std::size_t i = 0; i < methods.size(); ++i)
    EXPECT_NEAR(communication(methods[i]), 3 * warm[i], 1e-9) << methods[i];
}

TEST(Iterations, WaitForTheSlowestRank) {
  EXPECT_EQ(slowest_of(1, 3, 0.5), 1);
  EXPECT_EQ(slowest_of(8, 1, 0), 1);
  EXPECT_EQ(slowest_of(8, 3, 0), 3);
  EXPECT_GT(slowest_of(1024, 1, 0.1), 1.2);
  EXPECT_LT(slowest_of(1024, 1, 0.1), 1.6);
  const Cluster cluster{.world = {4, 1}, .network = kPlain, .slowest = 1.5};
  EXPECT_NEAR(forecast_of("all-reduce", cluster).seconds(), 1.5 * made_up_run().seconds() + 60e-3,
              1e-9);
}

TEST(Iterations, OfEveryMethodExchangeItsBytes) {
  const comm::RecordedWorld world{8, 1};
  auto bytes = [&](const std::string& method, comm::Operation operation) {
    double sum = 0;
    for (const Exchange& one : exchanges_of(parse_method_plan(method), made_up_run(), world))
      if (one.collective && one.collective->operation == operation)
        sum += one.frequency * one.collective->bytes;
    return sum;
  };
  using comm::Operation;
  EXPECT_NEAR(bytes("ddp", Operation::all_reduce), 60e6, 1e4);
  EXPECT_NEAR(bytes("ddp+float16", Operation::all_reduce), 30e6, 1e4);
  EXPECT_NEAR(bytes("ddp+topk:0.01", Operation::all_gather), 8 * 60e6 * 0.02, 1e4);
  EXPECT_NEAR(bytes("ddp+sign", Operation::all_gather), 8 * 60e6 / 32, 1e4);
  EXPECT_LT(bytes("ddp+powersgd:2", Operation::all_reduce), 0.01 * 60e6);
  EXPECT_NEAR(bytes("sharded", Operation::reduce_scatter), 60e6, 1e4);
  EXPECT_NEAR(bytes("sharded", Operation::all_gather), 60e6, 1e4);
  EXPECT_NEAR(bytes("gather-scatter", Operation::gather), 8 * 60e6, 1);
  EXPECT_NEAR(bytes("local-sgd", Operation::all_reduce), 60e6 / 4, 1);
  testing::expect_error<UsageError>([] { parse_method_plan("ring+float16"); }, {"only ddp"});
  testing::expect_error<UsageError>([] { parse_method_plan("magic"); }, {"magic"});
}

ScalingJob job_on(const NetworkModel& network) {
  return {.run = made_up_run(),
          .network = network,
          .workers = {1, 2, 4, 64, 1024},
          .methods = {"ring", "tree", "ddp"},
          .bucket_megabytes = {1, 25}};
}

TEST(Scalings, CompareMethodsAndFindTheBest) {
  const Scaling scaling = predict_scaling(job_on(parse_network("10gbit")));
  ASSERT_EQ(scaling.predictions.size(), 15u);
  for (const Prediction& one : scaling.predictions) {
    EXPECT_LE(one.efficiency(), 1 + 1e-9) << one.plan.name;
    EXPECT_NEAR(one.speedup(), one.workers * one.efficiency(), 1e-9);
  }
  const std::vector<Prediction> best = best_by_workers(scaling);
  ASSERT_EQ(best.size(), 5u);
  EXPECT_EQ(best[2].plan.name, "ddp");
  EXPECT_GE(workers_worth_it(scaling), 4);
  EXPECT_THAT(verdict_of(scaling), ::testing::HasSubstr("1024 workers"));
}

TEST(Scalings, IgnoreDuplicates) {
  ScalingJob job = job_on(parse_network("10gbit"));
  job.workers = {4, 1, 4};
  job.methods = {"ring", "ring"};
  const Scaling scaling = predict_scaling(job);
  EXPECT_EQ(scaling.predictions.size(), 2u);
  EXPECT_EQ(best_by_workers(scaling).size(), 2u);
}

TEST(Scalings, FindWhereMethodsCross) {
  // With a long latency, the tree's few messages win, but only with many ranks.
  ScalingJob job = job_on(parse_network("alpha=1ms,bandwidth=10gbit"));
  job.methods = {"ring", "tree"};
  const std::vector<Crossing> found = crossings(predict_scaling(job));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].method, "tree");
  EXPECT_EQ(found[0].than, "ring");
  EXPECT_LT(found[0].below, found[0].from);
}

TEST(Scalings, FindTheLastWorkerThatIsWorthIt) {
  ScalingJob job = job_on(parse_network("1gbit"));
  job.methods = {"gather-scatter"};
  EXPECT_EQ(workers_worth_it(predict_scaling(job)), 1);
  job.workers = {64, 1024};  // compared with one worker, although it is not in the list
  EXPECT_EQ(workers_worth_it(predict_scaling(job)), 1);
}

TEST(Scalings, FindACrossingAfterEqualTimes) {
  Scaling scaling = predict_scaling(job_on(kFast));
  scaling.predictions.clear();
  scaling.job.methods = {"ring", "tree"};
  const double ring[] = {1, 2, 3}, tree[] = {2, 2, 2};
  for (int i = 0; i < 3; ++i)
    for (const auto& [method, seconds] : {std::pair{"ring", ring[i]}, std::pair{"tree", tree[i]}})
      scaling.predictions.push_back({.plan = parse_method_plan(method),
                                     .workers = 1 << i,
                                     .network = "fast",
                                     .forecast = {.compute = seconds}});
  const std::vector<Crossing> found = crossings(scaling);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].method, "tree");
  EXPECT_EQ(found[0].below, 1);
  EXPECT_EQ(found[0].from, 4);
}

TEST(Scalings, RefuseInvalidJobs) {
  auto refused = [](auto change, std::initializer_list<std::string_view> parts) {
    ScalingJob job = job_on(kFast);
    change(job);
    testing::expect_error<UsageError>([&] { predict_scaling(job); }, parts);
  };
  refused([](ScalingJob& job) { job.workers = {}; }, {"--workers", "empty"});
  refused([](ScalingJob& job) { job.workers = {0}; }, {"--workers has 0"});
  refused([](ScalingJob& job) { job.per_host = 0; }, {"--ranks-per-host"});
  refused([](ScalingJob& job) { job.per_host = -4; }, {"--ranks-per-host"});
  refused([](ScalingJob& job) { job.slow_rank = HUGE_VAL; }, {"--slow-rank"});
  refused([](ScalingJob& job) { job.per_host = 3; }, {"4 workers", "hosts of 3"});
  refused([](ScalingJob& job) { job.bucket_megabytes = {0}; }, {"--bucket-mb"});
  refused([](ScalingJob& job) { job.jitter = -1; }, {"--jitter"});
  refused([](ScalingJob& job) { job.slow_rank = 0.5; }, {"--slow-rank"});
  refused([](ScalingJob& job) { job.worth = 0; }, {"--worth"});
  refused([](ScalingJob& job) { job.methods = {"magic"}; }, {"magic"});
}

}  // namespace
}  // namespace lockstep::internal::predict
