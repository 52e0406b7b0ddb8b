// Predicted bytes and texts of sync methods, as in docs/algorithms.md.
#include "report/methods.h"

#include <gtest/gtest.h>

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
    const MethodText text = text_of_method(sync, algorithm);
    EXPECT_FALSE(text.what.empty()) << sync;
    EXPECT_FALSE(text.formula.empty()) << sync;
    texts.insert(text.what);
  }
  EXPECT_EQ(texts.size(), 11u);
  EXPECT_TRUE(text_of_method("telepathy", "auto").what.empty());
}

}  // namespace
}  // namespace lockstep::internal::report
