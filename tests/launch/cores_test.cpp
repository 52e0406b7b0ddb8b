#include "launch/hosts/cores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace lockstep::internal::launch {
namespace {

TEST(Cores, AreDividedEvenly) {
  for (int count : {1, 2, 3, 7, 8, 64}) {
    std::vector<int> cores;
    for (int core = 0; core < count; ++core) cores.push_back(10 + core);
    for (int parts = 1; parts <= count; ++parts) {
      std::vector<int> all;
      for (int index = 0; index < parts; ++index) {
        const std::vector<int> share = share_of_cores(cores, index, parts);
        EXPECT_GE(static_cast<int>(share.size()), count / parts);
        EXPECT_LE(static_cast<int>(share.size()), count / parts + 1);
        all.insert(all.end(), share.begin(), share.end());
      }
      EXPECT_EQ(all, cores);
    }
    EXPECT_TRUE(share_of_cores(cores, 0, count + 1).empty());
  }
}

TEST(Cores, ThereIsAtLeastOne) {
  std::vector<int> cores = usable_cores();
  ASSERT_FALSE(cores.empty());
  std::sort(cores.begin(), cores.end());
  EXPECT_EQ(std::unique(cores.begin(), cores.end()), cores.end());
}

TEST(Cores, ThreadsFollowTheUserThenTheCores) {
  const char* before = std::getenv("OMP_NUM_THREADS");
  const std::string kept = before == nullptr ? "" : before;
  ::unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(threads_per_worker(1), static_cast<int>(usable_cores().size()));
  EXPECT_EQ(threads_per_worker(100'000), 1);
  ::setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(threads_per_worker(100'000), 3);
  ::setenv("OMP_NUM_THREADS", "nonsense", 1);
  EXPECT_EQ(threads_per_worker(100'000), 1);
  ::setenv("OMP_NUM_THREADS", kept.c_str(), 1);
  if (kept.empty()) ::unsetenv("OMP_NUM_THREADS");
}

}  // namespace
}  // namespace lockstep::internal::launch
