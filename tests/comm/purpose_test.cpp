// Bytes are counted under the purpose that was marked where an operation began.
#include "comm/purpose.h"

#include "comm/group_core.h"
#include "support/ranks.h"

#include <gtest/gtest.h>

namespace lockstep::internal::comm {
namespace {

using testing::RankKind;

std::uint64_t bytes_of(const Group& group, Purpose purpose) {
  return group.core()->bytes_by_purpose()[static_cast<std::size_t>(purpose)];
}

TEST(Purpose, TheInnermostMarkCounts) {
  EXPECT_EQ(current_purpose, Purpose::other);
  {
    const PurposeMark outer(Purpose::weights);
    {
      const PurposeMark inner(Purpose::votes);
      EXPECT_EQ(current_purpose, Purpose::votes);
    }
    EXPECT_EQ(current_purpose, Purpose::weights);
  }
  EXPECT_EQ(current_purpose, Purpose::other);
}

class Purposes : public ::testing::TestWithParam<RankKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Purposes, ::testing::ValuesIn(testing::kinds(4)),
                         [](const auto& kind) { return testing::name_of(kind.param); });

TEST_P(Purposes, OfCollectivesAndMessagesAddUpToAllBytes) {
  run_ranks(GetParam(), 4, [](Group group) {
    constexpr std::uint64_t kCount = 4000;
    std::vector<float> gradients(kCount), weights(kCount);
    Work work;
    {
      const PurposeMark mark(Purpose::gradients);
      work = group.all_reduce_async(gradients, ReduceOp::sum, Algorithm::ring);
    }
    {
      const PurposeMark mark(Purpose::weights);
      group.all_reduce(weights, ReduceOp::sum, Algorithm::ring);
      group.all_reduce(weights, ReduceOp::sum, Algorithm::ring);
    }
    work.wait();
    std::vector<double> vote(5);
    {
      const PurposeMark mark(Purpose::votes);
      if (group.rank() == 1) work = group.isend(vote, 2);
    }
    const PurposeMark mark(Purpose::metrics);  // not that of the message, which ends here
    if (group.rank() == 1) work.wait();
    if (group.rank() == 2) group.recv(vote, 1);
    const std::uint64_t ring = 2 * sizeof(float) * kCount * 3 / 4;  // 2n(W−1)/W
    EXPECT_EQ(bytes_of(group, Purpose::gradients), ring);
    EXPECT_EQ(bytes_of(group, Purpose::weights), 2 * ring);
    EXPECT_EQ(bytes_of(group, Purpose::votes), group.rank() == 1 ? 5 * sizeof(double) : 0);
    EXPECT_EQ(bytes_of(group, Purpose::metrics), 0u);
    EXPECT_EQ(total(group.core()->bytes_by_purpose()), group.counters().bytes);
  });
}

TEST_P(Purposes, OfDirectCollectivesAreCountedToo) {
  run_ranks(GetParam(), 4, [](Group group) {
    if (!group.has(Algorithm::direct)) return;
    std::vector<float> values(6400);
    const PurposeMark mark(Purpose::gradients);
    group.all_reduce(values, ReduceOp::sum, Algorithm::direct);
    EXPECT_GT(group.counters().bytes, sizeof(float) * values.size());
    EXPECT_EQ(group.counters().bytes, bytes_of(group, Purpose::gradients));
  });
}

}  // namespace
}  // namespace lockstep::internal::comm
