// Predicted bytes and texts of sync methods, as in docs/algorithms.md.
#include "report/methods.h"

#include "predict/pattern.h"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <set>

namespace lockstep::internal::report {
namespace {

void expect_bytes(const char* sync, const char* algorithm, double workers, double rank_0,
                  double others) {
  const auto predicted = predicted_bytes(sync, algorithm, workers, 1000);
  ASSERT_TRUE(predicted) << sync << " " << algorithm;
  EXPECT_DOUBLE_EQ(predicted->rank_0, rank_0) << sync << " " << algorithm;
  EXPECT_DOUBLE_EQ(predicted->others, others) << sync << " " << algorithm;
}

TEST(Methods, HaveTheBytesOfTheirFormulas) {
  expect_bytes("gather-scatter", "auto", 4, 3000, 1000);
  expect_bytes("p2p", "auto", 8, 7000, 1000);
  expect_bytes("coordinator", "auto", 2, 1000, 1000);
  expect_bytes("all-reduce", "auto", 4, 1500, 1500);
  expect_bytes("all-reduce", "ring", 5, 1600, 1600);
  expect_bytes("all-reduce", "tree", 5, 3000, 1000);
  expect_bytes("all-reduce", "star", 4, 3000, 1000);
  expect_bytes("all-reduce", "halving-doubling", 8, 1750, 1750);
  expect_bytes("ddp", "auto", 2, 1000, 1000);
  expect_bytes("sharded", "auto", 4, 1500, 1500);
}

/// The bytes that the first and the last rank send in a collective, by the collective's own code;
/// for `direct`, those that they read from and write for other ranks.
std::pair<double, double> recorded_bytes(comm::Operation operation, Algorithm algorithm,
                                         int workers, double bytes) {
  const int per_host = algorithm == Algorithm::direct ? workers : 1;
  const predict::Pattern pattern =
      predict::record({operation, algorithm, bytes}, {workers, per_host});
  const auto sent = [](const comm::RecordedSteps& steps) {
    double sum = 0;
    for (const comm::RecordedStep& step : steps)
      if (step.kind == comm::StepKind::send || step.kind == comm::StepKind::copy)
        sum += static_cast<double>(step.bytes);
    return sum;
  };
  return {sent(pattern.ranks.front()), sent(pattern.ranks.back())};
}

TEST(Methods, HaveTheBytesThatTheirCollectivesSend) {
  for (int workers : {2, 3, 4, 5, 8, 16}) {
    const double bytes = 1024.0 * 3 * 5 * 16;  // divides evenly by all of these
    const auto expect = [&](const char* sync, std::string_view algorithm,
                            std::vector<std::pair<double, double>> collectives) {
      const auto predicted = predicted_bytes(sync, std::string(algorithm), workers, bytes);
      if (!predicted) return;  // halving-doubling, unless a power of two
      std::pair<double, double> sent;
      for (const auto& [rank_0, others] : collectives) sent.first += rank_0, sent.second += others;
      EXPECT_DOUBLE_EQ(predicted->rank_0, sent.first) << sync << " " << algorithm << workers;
      EXPECT_DOUBLE_EQ(predicted->others, sent.second) << sync << " " << algorithm << workers;
    };
    using comm::Operation;
    for (Algorithm algorithm : {Algorithm::direct, Algorithm::ring, Algorithm::tree,
                                Algorithm::halving_doubling, Algorithm::star})
      expect("all-reduce", name_of(algorithm),
             {recorded_bytes(Operation::all_reduce, algorithm, workers, bytes)});
    const auto automatic = Algorithm::automatic;
    expect("gather-scatter", "auto",
           {recorded_bytes(Operation::gather, automatic, workers, workers * bytes),
            recorded_bytes(Operation::scatter, automatic, workers, workers * bytes)});
    expect("sharded", "auto",
           {recorded_bytes(Operation::reduce_scatter, Algorithm::ring, workers, bytes),
            recorded_bytes(Operation::all_gather, Algorithm::ring, workers, bytes)});
  }
}

TEST(Methods, WithUnknownBytesAreNotPredicted) {
  EXPECT_FALSE(predicted_bytes("ddp", "native", 4, 1000));
  EXPECT_FALSE(predicted_bytes("ddp", "hierarchical", 4, 1000));
  EXPECT_FALSE(predicted_bytes("server", "auto", 4, 1000));
  EXPECT_FALSE(predicted_bytes("all-reduce", "halving-doubling", 6, 1000));
}

TEST(Methods, HaveDistinctTexts) {
  std::set<std::string> texts;
  for (const auto& [sync, algorithm] :
       std::vector<std::pair<const char*, const char*>>{{"gather-scatter", "auto"},
                                                        {"p2p", "auto"},
                                                        {"coordinator", "auto"},
                                                        {"all-reduce", "auto"},
                                                        {"all-reduce", "ring"},
                                                        {"all-reduce", "tree"},
                                                        {"all-reduce", "halving-doubling"},
                                                        {"ddp", "ring"},
                                                        {"sharded", "auto"},
                                                        {"server", "auto"},
                                                        {"local-sgd", "auto"}}) {
    const MethodText text = text_of_method(sync, algorithm, "gloo");
    EXPECT_FALSE(text.what.empty()) << sync;
    EXPECT_FALSE(text.formula.empty()) << sync;
    texts.insert(text.what);
  }
  EXPECT_EQ(texts.size(), 11u);
  EXPECT_TRUE(text_of_method("telepathy", "auto", "shm").what.empty());
}

TEST(Methods, MentionSharedMemoryOnlyWhereItIsUsed) {
  const auto what = [](const char* algorithm, const char* transport) {
    return text_of_method("all-reduce", algorithm, transport).what;
  };
  EXPECT_THAT(what("auto", "shm"), ::testing::HasSubstr("In shared memory"));
  for (const char* transport : {"gloo", "mpi", "shm+gloo"})
    EXPECT_THAT(what("auto", transport), ::testing::Not(::testing::HasSubstr("memory")));
  EXPECT_THAT(what("ring", "shm"), ::testing::Not(::testing::HasSubstr("memory")));
}

TEST(Methods, OfAnAlgorithmAreFoundByItsNameToo) {
  EXPECT_EQ(text_of_method("ring", "ring", "shm").what,
            text_of_method("all-reduce", "ring", "shm").what);
}

}  // namespace
}  // namespace lockstep::internal::report
