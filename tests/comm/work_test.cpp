// A Work with a continuation of the caller.
#include <lockstep/group.h>

#include "support/errors.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

namespace lockstep::internal {
namespace {

TEST(Work, ThenRunsOnceAfterTheOperation) {
  run_threads(2, [](Group group) {
    std::vector<float> values{static_cast<float>(group.rank() + 1)};
    int runs = 0;
    Work work = group.all_reduce_async(values).then([&] {
      ++runs;
      values[0] *= 10;
    });
    work.wait();
    work.wait();
    EXPECT_TRUE(work.done());
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(values[0], 30);
  });
}

TEST(Work, ThenOfAnEmptyWorkRunsWhenItIsWaitedFor) {
  int runs = 0;
  Work work = Work().then([&] { ++runs; }).then([&] { runs *= 10; });
  EXPECT_EQ(runs, 0);
  work.wait();
  EXPECT_EQ(runs, 10);
}

TEST(Work, EveryWaitThrowsTheContinuationsError) {
  Work work = Work().then([] { throw std::runtime_error("mine"); });
  for (int time = 0; time < 2; ++time)
    testing::expect_error<std::runtime_error>([&] { work.wait(); }, {"mine"});
}

TEST(Work, ThenDoesNotRunAfterAFailure) {
  int runs = 0;
  Work work = Work().then([] { throw std::runtime_error("mine"); }).then([&] { ++runs; });
  testing::expect_error<std::runtime_error>([&] { work.wait(); }, {"mine"});
  EXPECT_EQ(runs, 0);
}

// Its array is often the next object that the exception destroys.
TEST(Work, ExceptionThatDestroysACollectiveWaitsForItsEnd) {
  run_threads(2, [](Group group) {
    std::vector<float> values{static_cast<float>(group.rank() + 1)};
    if (group.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return group.all_reduce(values);
    }
    try {
      const Work work = group.all_reduce_async(values);
      throw std::runtime_error("mine");
    } catch (const std::runtime_error&) {
      EXPECT_EQ(values[0], 3);
    }
  });
}

// The continuation may own the operation's array.
TEST(Work, ExceptionFreesTheContinuationAfterTheOperation) {
  std::atomic<bool> freed = false;
  run_threads(2, [&](Group group) {
    std::vector<float> values(1000, 1);
    if (group.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      EXPECT_FALSE(freed);
      return group.all_reduce(values);
    }
    try {
      const std::shared_ptr<void> owned(nullptr, [&](void*) { freed = true; });
      const Work work = group.all_reduce_async(values).then([owned] {});
      throw std::runtime_error("mine");
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(freed);
    }
  });
}

TEST(Work, SeveralThreadsMayWaitForOneWork) {
  int runs = 0;
  Work work = Work().then([&] { ++runs; });
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i) waiters.emplace_back([work]() mutable { work.wait(); });
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace lockstep::internal
