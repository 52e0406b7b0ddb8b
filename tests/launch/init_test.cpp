// How often a process may call init().
#include <lockstep/error.h>
#include <lockstep/init.h>

#include "launch/job.h"
#include "support/environment.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace lockstep::internal::launch {
namespace {

using testing::expect_error;

TEST(Init, SecondCallIsRejectedEvenAfterTheFirstGroupIsGone) {
  for (int workers : {1, 2}) {
    const JobResult result = run_forked({.workers = workers}, [] {
      {
        Group group = init();
        expect_error<UsageError>([] { init(); }, {"init() was called a second time"});
        group.barrier();
      }
      expect_error<UsageError>([] { init(); }, {"init() was called a second time"});
      return ::testing::Test::HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(result.code(), 0);
  }
}

TEST(Init, FailedCallMayBeRepeated) {
  const JobResult result = run_forked({.workers = 1}, [] {
    {
      const testing::EnvironmentVariable rank("LOCKSTEP_RANK", "7");
      EXPECT_THROW(init(), UsageError);
    }
    init().barrier();
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(result.code(), 0);
}

TEST(Init, FailedCallOfSeveralRanksAsksForARestart) {
  const JobResult result = run_forked({.workers = 2}, [] {
    const bool first = ::getenv("LOCKSTEP_RANK") == std::string("0");
    EXPECT_THROW(init({.transport = first ? "shm" : "gloo"}), MismatchError);
    expect_error<UsageError>([] { init({.transport = "shm"}); },
                             {first ? "rank 0 has already joined this run (pid "
                                    : "rank 1 has already joined this run (pid ",
                              "init() failed", "start the whole run again"});
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(result.code(), 0);
}

}  // namespace
}  // namespace lockstep::internal::launch
