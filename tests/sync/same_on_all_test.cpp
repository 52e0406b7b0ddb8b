// Ranks whose lines differ learn which rank has which line.
#include "sync/same_on_all.h"

#include <lockstep/error.h>

#include "support/ranks.h"

#include <gtest/gtest.h>

namespace lockstep::internal::sync {
namespace {

using testing::errors_of_ranks;
using testing::RankKind;

void compare(Group group, const std::vector<std::string>& lines) {
  require_same_on_all(group, lines, "the lists differ", "Make them alike");
}

TEST(SameOnAll, ReturnsIfAllRanksAgree) {
  for (const std::vector<std::string>& lines :
       std::vector<std::vector<std::string>>{{}, {"a"}, {"a", "b", ""}})
    testing::run_ranks(RankKind::thread, 3, [&](const Group& group) { compare(group, lines); });
}

TEST(SameOnAll, QuotesTheFirstDifferenceToEveryRank) {
  const std::vector<std::vector<std::string>> lists{
      {"a", "b", "c"}, {"a", "x", "c"}, {"a", "b", "c"}, {"a"}};
  for (const std::string& error : errors_of_ranks(
           RankKind::thread, 4, [&](const Group& group) { compare(group, lists[group.rank()]); }))
    EXPECT_EQ(error,
              "the lists differ; the first difference: ranks 0 and 2 had b; rank 1 had "
              "x; rank 3 had nothing more. Make them alike");
}

TEST(SameOnAll, LeavesTheGroupUsable) {
  testing::run_ranks(RankKind::process, 2, [](Group group) {
    EXPECT_THROW(compare(group, {std::string(1000, 'a' + static_cast<char>(group.rank()))}),
                 MismatchError);
    std::vector<float> values{1};
    group.all_reduce(values);
    EXPECT_EQ(values[0], 2);
  });
}

}  // namespace
}  // namespace lockstep::internal::sync
