// Ranking runs by throughput: what the sentences say about made-up measurements.
#include "run/ranking.h"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace lockstep::internal::run {
namespace {

using ::testing::HasSubstr;

std::string text_of(std::vector<Throughput> runs) {
  return Ranking(std::move(runs), "method").text();
}

const std::string kApart = "workers train apart between averages of the weights";

TEST(Ranking, TakesTheMedianOfTheRepetitions) {
  const Spread odd = spread_of({30, 10, 20});
  EXPECT_EQ(odd.low, 10);
  EXPECT_EQ(odd.median, 20);
  EXPECT_EQ(odd.high, 30);
  EXPECT_EQ(spread_of({40, 10, 20, 30}).median, 20) << "a measurement, not a mean of two";
}

TEST(Ranking, NamesTheFastestMethod) {
  const std::vector<Throughput> runs{{"p2p", {800}}, {"ddp", {1333.3}}};
  EXPECT_EQ(Ranking(runs, "method").fastest()->name, "ddp");
  EXPECT_EQ(text_of(runs),
            "ddp is the fastest method with 1333 images/s: 1.67 times as fast as p2p with 800 "
            "images/s.");
  EXPECT_EQ(text_of({{"ring", {55.55}}}), "ring trains 55.5 images/s.");
  EXPECT_EQ(text_of({}), "");
}

TEST(Ranking, CrownsNoMethodWithinNoise) {
  const std::vector<Throughput> runs{
      {"ddp", {1000, 700, 1040}}, {"p2p", {900, 910, 920}}, {"ring", {500, 505, 510}}};
  EXPECT_EQ(Ranking(runs, "method").fastest(), nullptr) << "one repetition of ddp was slow";
  EXPECT_EQ(
      text_of(runs),
      "No method is clearly the fastest: p2p is within noise of ddp, which trains 1000 "
      "images/s (700 to 1040 in 3 repetitions), 1.98 times as fast as ring, the slowest, with "
      "505 images/s (500 to 510 in 3 repetitions).");
  EXPECT_EQ(text_of({{"ddp", {100}}, {"p2p", {98}}, {"ring", {96}}}),
            "No method is clearly the fastest: p2p and ring are within noise of ddp, which trains "
            "100 images/s; ring trains 96.0 images/s.");
}

TEST(Ranking, IgnoresANoisyRepetitionThatOverlapsNoOtherMethod) {
  const std::vector<Throughput> runs{{"ddp", {1000, 700, 1040}}, {"ring", {500, 505, 510}}};
  EXPECT_EQ(Ranking(runs, "method").fastest()->name, "ddp");
}

TEST(Ranking, RanksMethodsThatAreNotExactApart) {
  const std::vector<Throughput> runs{
      {"local-sgd", {3000}, kApart}, {"ddp", {2000}}, {"ring", {1000}}};
  EXPECT_EQ(Ranking(runs, "method").fastest()->name, "ddp");
  EXPECT_EQ(text_of(runs),
            "ddp is the fastest exact method with 2000 images/s: 2.00 times as fast as ring with "
            "1000 images/s. local-sgd is 1.50 times as fast as ddp with 3000 images/s, but not "
            "exact: " +
                kApart + ".");
  EXPECT_EQ(text_of({{"ddp", {2000}}, {"local-sgd", {1500}, kApart}}),
            "ddp trains 2000 images/s. local-sgd is not exact and is not faster.");
  EXPECT_EQ(text_of({{"local-sgd", {1500}, kApart}}),
            "local-sgd trains 1500 images/s. It is not exact.");
}

TEST(Ranking, KnowsWhichMethodsAreExact) {
  for (const char* sync : {"ddp", "server", "sharded", "all-reduce"})
    EXPECT_EQ(inexactness(sync, false, ""), "") << sync;
  EXPECT_EQ(inexactness("local-sgd", false, ""), kApart);
  EXPECT_THAT(inexactness("server", true, ""), HasSubstr("outdated weights"));
  EXPECT_THAT(inexactness("ddp", false, "float16"), HasSubstr("compression"));
}

TEST(Means, ThatAreNearTheMedianNeedNoExplanation) {
  EXPECT_EQ(explain_means({{"ddp", {.mean = 0.0119, .p50 = 0.010, .p90 = 0.02}}}), "");
  EXPECT_EQ(explain_means({{"ddp", {.mean = 0.010, .p50 = 0.0119, .p90 = 0.02}}}), "");
}

TEST(Means, OfAMethodThatCommunicatesEveryFourthStepAreExplained) {
  EXPECT_EQ(
      explain_means({{"local-sgd", {.mean = 0.0023, .p50 = 0.00055, .p90 = 0.0077}, 4}}),
      "The mean time of an iteration differs from the median by more than 20 %: local-sgd "
      "(mean 2.30 ms, median 550 µs) averages weights in one of 4 iterations only. Images per "
      "second count every iteration.");
}

TEST(Means, OfFewAndOfManySlowIterationsAreToldApart) {
  const std::string text = explain_means({{"ring", {.mean = 0.02, .p50 = 0.01, .p90 = 0.011}},
                                          {"p2p", {.mean = 0.02, .p50 = 0.01, .p90 = 0.06}},
                                          {"ddp", {.mean = 0.01, .p50 = 0.02, .p90 = 0.03}}});
  EXPECT_THAT(text, HasSubstr("fewer than one in ten iterations are slow, but very slow, with ring "
                              "(mean 20.0 ms, median 10.0 ms)"));
  EXPECT_THAT(text, HasSubstr("at least one in ten iterations is slow with p2p"));
  EXPECT_THAT(text, HasSubstr("much faster than the others with ddp"));
}

}  // namespace
}  // namespace lockstep::internal::run
