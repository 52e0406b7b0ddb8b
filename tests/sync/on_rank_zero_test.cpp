// Work on rank 0 may take longer than the timeout; the other ranks get its error.
#include "sync/on_rank_zero.h"

#include <lockstep/error.h>

#include "support/errors.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace lockstep::internal::sync {
namespace {

TEST(OnRankZero, WorkMayTakeLongerThanTheTimeout) {
  constexpr std::chrono::seconds kTimeout(3);
  std::atomic<int> worked = 0;
  run_threads(3,
              [&](Group group) {
                on_rank_zero(group, [&] {
                  std::this_thread::sleep_for(2 * kTimeout);
                  ++worked;
                });
                EXPECT_EQ(worked, 1);
              },
              {.timeout = kTimeout});
}

TEST(OnRankZero, AFailureIsRankZerosAlone) {
  std::atomic<int> lost = 0;
  const auto run = [&] {
    run_threads(3, [&](Group group) {
      try {
        on_rank_zero(group, [] { throw FileError("no room"); });
      } catch (const PeerLostError&) {
        ++lost;
        throw;
      }
    });
  };
  testing::expect_error<FileError>(run, {"no room"});
  EXPECT_EQ(lost, 2);
}

TEST(OnRankZero, AloneNobodyWaits) {
  int worked = 0;
  run_threads(1, [&](Group group) { on_rank_zero(group, [&] { ++worked; }); });
  EXPECT_EQ(worked, 1);
}

}  // namespace
}  // namespace lockstep::internal::sync
