// The verdict on a run from its measurements, including runs with hardly any measurements.
#include "observe/verdict.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

namespace lockstep::internal::observe {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kMs = 1e-3;

/// The measurements of a rank; `times` are in milliseconds.
RankMeasures measures(Times times) {
  for (const auto& [name, part] : kTimes) times.*part *= kMs;
  times.total = times.data + times.forward + times.backward + times.exposed + times.optimizer;
  times.communication = times.exposed + times.hidden;
  return {.times = times, .operations = 1, .latency = 0.01 * kMs, .bytes = 1e6};
}

/// Equal ranks, each on its own core.
Situation equal(int workers, const Times& times) {
  Situation situation;
  situation.ranks.assign(static_cast<std::size_t>(workers), measures(times));
  situation.gradient_bytes = 1e6;
  situation.cores = workers;
  return situation;
}

/// Rank 1 works for 35 ms; the others work for 21 ms and wait for 14 ms.
Situation with_a_straggler(int workers) {
  Situation situation = equal(workers, {.forward = 7, .backward = 14, .exposed = 14, .wait = 14});
  situation.ranks[1] = measures({.forward = 21, .backward = 14});
  return situation;
}

TEST(Verdict, OfOneWorkerIsCompute) {
  Situation situation = equal(1, {.forward = 4, .backward = 5.8, .exposed = 0.2});
  const Verdict verdict = make_verdict(situation);
  EXPECT_EQ(verdict.bottleneck.kind, Limit::compute);
  EXPECT_NEAR(verdict.bottleneck.share, 0.98, 1e-9);
  EXPECT_EQ(verdict.text,
            "Compute-bound: forward, backward and the optimizer take 98 % of an iteration. Only "
            "more or faster cores would help: with twice as many workers, each on its own core, an "
            "iteration could take 5.10 ms instead of 10.0 ms (up to 1.96 times as fast).");
}

TEST(Verdict, PointsOutIdleCores) {
  Situation situation = equal(2, {.forward = 3, .backward = 6, .exposed = 1});
  situation.cores = 6;
  const Verdict verdict = make_verdict(situation);
  EXPECT_EQ(verdict.bottleneck.kind, Limit::compute);
  EXPECT_THAT(verdict.text, HasSubstr("4 of 6 cores are idle"));
  EXPECT_NEAR(verdict.bottleneck.gain, 10.0 / 4, 1e-9);
}

TEST(Verdict, NamesAStragglerAndWhatItCosts) {
  for (int workers : {2, 4}) {
    const Verdict verdict = make_verdict(with_a_straggler(workers));
    EXPECT_EQ(verdict.bottleneck.kind, Limit::straggler);
    EXPECT_EQ(verdict.bottleneck.rank, 1);
    EXPECT_NEAR(verdict.bottleneck.share, 14.0 / 35, 1e-9);
    EXPECT_THAT(verdict.text,
                AllOf(HasSubstr("Rank 1 is a straggler"), HasSubstr("35.0 ms"), HasSubstr("wait"),
                      HasSubstr("40 % of the time"),
                      HasSubstr("If all ranks were equally fast, an iteration would take 21.0 ms "
                                "instead of 35.0 ms (1.67 times as fast).")));
    EXPECT_THAT(verdict.text, Not(HasSubstr("loading")));
  }
}

TEST(Verdict, SaysWhenAStragglerWaitsForItsData) {
  Situation situation = with_a_straggler(4);
  situation.ranks[1] = measures({.data = 14, .forward = 7, .backward = 14});
  EXPECT_THAT(make_verdict(situation).text,
              HasSubstr("35.0 ms per iteration (14.0 ms of it loading data)"));
}

TEST(Verdict, ComparesAStragglerWithItsOwnIterations) {
  // Without communication in most steps, the other rank's iterations are shorter: it waits for
  // 20 ms of its 25 ms, less than the straggler is late.
  Situation situation;
  situation.ranks = {measures({.forward = 5, .exposed = 20, .wait = 20}),
                     measures({.forward = 40, .exposed = 1})};
  situation.cores = 2;
  const Verdict verdict = make_verdict(situation);
  EXPECT_NEAR(verdict.bottleneck.share, 0.8, 1e-9);
  EXPECT_THAT(verdict.text, AllOf(HasSubstr("The other rank waits 80 % of the time."),
                                  HasSubstr("6.00 ms instead of 41.0 ms")));
}

TEST(Verdict, HasTheSamePartsAsTables) {
  const Verdict verdict = make_verdict(equal(
      2, {.data = 1, .forward = 20, .backward = 35, .exposed = 40, .wait = 15, .optimizer = 4}));
  EXPECT_THAT(verdict.text,
              HasSubstr("take 59 % of an iteration, moving gradients 25 %, waiting for "
                        "other ranks 15 %."));
}

TEST(Verdict, NamesNoRankIfTheSlowestChanges) {
  const Verdict verdict =
      make_verdict(equal(4, {.forward = 7, .backward = 14, .exposed = 14, .wait = 13}));
  EXPECT_EQ(verdict.bottleneck.kind, Limit::straggler);
  EXPECT_EQ(verdict.bottleneck.rank, -1);
  EXPECT_THAT(verdict.text, AllOf(HasSubstr("no rank is always the slowest"),
                                  HasSubstr("22.0 ms instead of 35.0 ms")));
}

TEST(Verdict, ALittleWaitingIsNoStraggler) {
  Situation situation = equal(2, {.forward = 10, .backward = 10, .exposed = 1, .wait = 1});
  situation.ranks[1] = measures({.forward = 11, .backward = 10});
  EXPECT_EQ(make_verdict(situation).bottleneck.kind, Limit::compute);
}

TEST(Verdict, NamesDataLoadingAndTheThreadsThatWouldHideIt) {
  // A batch takes 16 ms to load, and 6 ms to train.
  const Verdict verdict = make_verdict(equal(2, {.data = 16, .forward = 2, .backward = 4}));
  EXPECT_EQ(verdict.bottleneck.kind, Limit::data);
  EXPECT_NEAR(verdict.bottleneck.share, 16.0 / 22, 1e-9);
  EXPECT_THAT(verdict.text,
              AllOf(HasSubstr("Data loading limits this run"), HasSubstr("73 %"),
                    HasSubstr("--loader-threads 3"),
                    HasSubstr("6.00 ms instead of 22.0 ms (up to 3.67 times as fast)")));
}

TEST(Verdict, AsksForMoreLoaderThreadsThanThereAre) {
  // One thread loads all the time, a batch in 16 ms.
  Situation situation = equal(1, {.data = 10, .forward = 2, .backward = 4});
  situation.loader_threads = 1;
  EXPECT_THAT(make_verdict(situation).text, HasSubstr("--loader-threads 3"));
}

/// Ten collectives of 0.2 ms each.
Situation with_latency(const std::string& sync) {
  Situation situation = equal(2, {.forward = 1, .backward = 1, .exposed = 2.2});
  for (RankMeasures& rank : situation.ranks) {
    rank.operations = 10;
    rank.latency = 0.2 * kMs;
  }
  situation.sync = sync;
  situation.buckets = sync == "ddp" ? 10 : 1;
  return situation;
}

TEST(Verdict, TellsLatencyByTheNumberOfCollectives) {
  const Verdict verdict = make_verdict(with_latency("ddp"));
  EXPECT_EQ(verdict.bottleneck.kind, Limit::latency);
  EXPECT_THAT(verdict.text,
              AllOf(HasSubstr("Latency-bound: 52 % of an iteration is spent in 10 collectives, "
                              "each with a latency of 200 µs."),
                    HasSubstr("One bucket instead of 10"), HasSubstr("about 9 × 200 µs"),
                    HasSubstr("an iteration could take 2.40 ms instead of 4.20 ms (1.75 times as "
                              "fast)")));
}

TEST(Verdict, AdvisesDdpOnlyWhereItIsNotUsed) {
  EXPECT_THAT(make_verdict(with_latency("all-reduce")).text, HasSubstr("--sync ddp"));
  Situation situation = with_latency("ddp");
  situation.buckets = 1;
  EXPECT_THAT(
      make_verdict(situation).text,
      AllOf(Not(HasSubstr("--sync")), Not(HasSubstr("bucket")), HasSubstr("Twice the batch")));
}

Situation with_little_bandwidth() {
  Situation situation = equal(2, {.forward = 10, .backward = 20, .exposed = 70});
  for (RankMeasures& rank : situation.ranks) rank.bytes = 7e6;
  situation.gradient_bytes = 7e6;
  situation.transport = "gloo";
  situation.one_host = false;
  return situation;
}

TEST(Verdict, TellsBandwidthByTheBytes) {
  const Verdict verdict = make_verdict(with_little_bandwidth());
  EXPECT_EQ(verdict.bottleneck.kind, Limit::bandwidth);
  EXPECT_NEAR(verdict.bottleneck.share, 0.7, 1e-9);
  EXPECT_NEAR(verdict.bottleneck.gain, 200.0 / 130, 1e-9);
  EXPECT_THAT(
      verdict.text,
      AllOf(HasSubstr("Bandwidth-bound: 70 %"), HasSubstr("7.00 MB"), HasSubstr("at 100 MB/s"),
            HasSubstr("Twice the batch would halve communication per image: up to 1.54 "
                      "times as many images/s.")));
}

TEST(Verdict, NamesNoBytesThatALibraryDoesNotReport) {
  Situation situation = with_little_bandwidth();
  for (RankMeasures& rank : situation.ranks) rank.bytes = 0;
  EXPECT_THAT(
      make_verdict(situation).text,
      ::testing::StartsWith("Bandwidth-bound: 70 % of an iteration is spent moving gradients "
                            "while nothing is computed. "));
}

TEST(Verdict, AdvisesDdpOnlyForWhatItWouldGain) {
  Situation situation = with_latency("all-reduce");
  EXPECT_THAT(make_verdict(situation).text,
              AllOf(HasSubstr("--sync ddp reduces all gradients at once, as one bucket"),
                    HasSubstr("2.22 ms instead of 4.20 ms")));
  situation.buckets = 5;
  EXPECT_THAT(make_verdict(situation).text,
              HasSubstr("--sync ddp reduces gradients in buckets while backward runs"));
  for (const char* sync : {"sharded", "local-sgd"}) {
    situation.sync = sync;
    EXPECT_THAT(make_verdict(situation).text, Not(HasSubstr("--sync ddp"))) << sync;
  }
}

TEST(Verdict, AdvisesSharedMemoryOnOneHostOnly) {
  Situation situation = with_little_bandwidth();
  EXPECT_THAT(make_verdict(situation).text, Not(HasSubstr("shm")));
  situation.one_host = true;
  EXPECT_THAT(make_verdict(situation).text,
              AllOf(HasSubstr("--transport shm"), HasSubstr("30.0 ms instead of 100 ms")));
  situation.transport = "shm";
  EXPECT_THAT(make_verdict(situation).text, Not(HasSubstr("shm")));
}

TEST(Verdict, ExpectsMoreOfDdpWhereOneRankMovesEverything) {
  Situation situation = with_little_bandwidth();
  situation.ranks.resize(4, situation.ranks[0]);
  situation.cores = 4;
  situation.sync = "gather-scatter";
  situation.buckets = 4;
  situation.ranks[0].bytes = 2 * 3 * 7e6;
  // A quarter of the bytes, 20 ms of it hidden behind backward.
  const Verdict verdict = make_verdict(situation);
  EXPECT_THAT(verdict.text, AllOf(HasSubstr("42.0 MB"), HasSubstr("--sync ddp")));
  EXPECT_NEAR(verdict.bottleneck.gain, 100 / 30.0, 1e-9);
}

Situation oversubscribed(const Times& times) {
  Situation situation = equal(4, times);
  situation.cores = 2;
  return situation;
}

TEST(Verdict, NamesOversubscription) {
  const Verdict verdict =
      make_verdict(oversubscribed({.forward = 1, .backward = 3, .exposed = 6, .wait = 5}));
  EXPECT_EQ(verdict.bottleneck.kind, Limit::oversubscribed);
  EXPECT_THAT(verdict.text,
              AllOf(HasSubstr("4 workers × 1 thread share 2 cores"),
                    HasSubstr("overhead, not speed-up"), HasSubstr("With 2 workers of 1 thread"),
                    HasSubstr("8.00 ms instead of 10.0 ms (up to 1.25 times as fast)")));
}

TEST(Verdict, PromisesNoGainIfOversubscribedCoresAreBusy) {
  const Verdict verdict = make_verdict(oversubscribed({.forward = 3, .backward = 6, .exposed = 1}));
  EXPECT_EQ(verdict.bottleneck.kind, Limit::oversubscribed);
  EXPECT_THAT(verdict.text, HasSubstr("at about the same speed"));
  EXPECT_EQ(verdict.bottleneck.gain, 1);
}

TEST(Verdict, NamesClearBottlenecksOnOversubscribedCores) {
  Situation slow = oversubscribed({.forward = 7, .backward = 14, .exposed = 21, .wait = 21});
  slow.ranks[1] = measures({.forward = 28, .backward = 14});
  EXPECT_EQ(make_verdict(slow).bottleneck.rank, 1);
  EXPECT_EQ(make_verdict(oversubscribed({.data = 8, .forward = 1, .backward = 1})).bottleneck.kind,
            Limit::data);
  Situation unclear = oversubscribed({.forward = 7, .backward = 14, .exposed = 27, .wait = 25});
  unclear.ranks[1] = measures({.forward = 17, .backward = 14, .exposed = 17, .wait = 15});
  EXPECT_EQ(make_verdict(unclear).bottleneck.kind, Limit::oversubscribed);
}

TEST(Verdict, SaysThatARunWithoutMeasurementsIsTooShort) {
  EXPECT_THAT(make_verdict({}).text, HasSubstr("too short"));
  EXPECT_EQ(make_verdict(equal(2, {})).bottleneck.kind, Limit::unknown);
  Situation endless = equal(2, {.forward = 1});
  endless.ranks[0].times.total = std::numeric_limits<double>::infinity();
  EXPECT_EQ(make_verdict(endless).bottleneck.kind, Limit::unknown);
}

TEST(Verdict, IsFiniteIfOnlyOnePartTakesTime) {
  for (const auto& [name, part] : kTimes) {
    Times times;
    times.*part = 5;
    for (int workers : {1, 2, 3}) {
      for (int cores : {1, 8}) {
        Situation situation = equal(workers, times);
        situation.cores = cores;
        const Verdict verdict = make_verdict(situation);
        EXPECT_TRUE(std::isfinite(verdict.bottleneck.share)) << name;
        EXPECT_TRUE(std::isfinite(verdict.bottleneck.gain)) << name;
        EXPECT_GE(verdict.bottleneck.gain, 1) << name;
        EXPECT_THAT(verdict.text, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf ")))) << name;
      }
    }
  }
}

TEST(Bottleneck, IsReadBackFromJson) {
  const Bottleneck straggler{Limit::straggler, 3, 0.4, 1.7};
  const nlohmann::json json = straggler;
  EXPECT_EQ(json,
            (nlohmann::json{{"kind", "straggler"}, {"rank", 3}, {"share", 0.4}, {"gain", 1.7}}));
  EXPECT_EQ(nlohmann::json(json.get<Bottleneck>()), json);
  EXPECT_FALSE(nlohmann::json(Bottleneck{Limit::data, -1, 0.5, 2}).contains("rank"));
  const auto later = nlohmann::json{{"kind", "gremlins"}, {"share", 1}, {"gain", 1}};
  EXPECT_EQ(later.get<Bottleneck>().kind, Limit::unknown);
}

}  // namespace
}  // namespace lockstep::internal::observe
