#include "base/thread.h"

#include <lockstep/error.h>

#include "base/sleep.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace lockstep::internal {
namespace {

constexpr std::chrono::milliseconds kMoment{20};

std::string name_of_this_thread() {
  char name[16] = "";
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  return name;
}

TEST(Thread, TheDestructorWaitsForTheEnd) {
  std::atomic<int> ended = 0;
  {
    std::vector<Thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back("test", [&] {
        sleep_for(kMoment);
        ++ended;
      });
  }
  EXPECT_EQ(ended, 3);
}

TEST(Thread, IsNotJoinableBeforeItsStartAndAfterJoin) {
  Thread thread;
  EXPECT_FALSE(thread.joinable());
  thread = Thread("test", [] {});
  EXPECT_TRUE(thread.joinable());
  thread.join();
  EXPECT_FALSE(thread.joinable());
}

TEST(Thread, OutlivesItsObjectIfDetached) {
  std::promise<void> may_end;
  std::promise<void> ended;
  Thread("test", [&, end = may_end.get_future()]() mutable {
    end.wait();
    ended.set_value_at_thread_exit();
  }).detach();
  may_end.set_value();
  ended.get_future().wait();
}

TEST(Thread, HasItsName) {
  std::string name;
  Thread("fifteen letters", [&] { name = name_of_this_thread(); }).join();
  EXPECT_EQ(name, "fifteen letters");
  EXPECT_EQ(call_on_thread("caller", name_of_this_thread).get(), "caller");
  EXPECT_NE(name_of_this_thread(), "caller");
}

TEST(CallOnThread, PassesTheResultOrTheException) {
  EXPECT_EQ(call_on_thread("test", [] { return 7; }).get(), 7);
  auto failing = call_on_thread("test", []() -> int { throw FileError("disk"); });
  EXPECT_THROW(failing.get(), FileError);
}

TEST(CallOnThread, TheFuturesDestructorWaitsForTheEnd) {
  std::atomic<bool> ended = false;
  {
    const auto future = call_on_thread("test", [&] {
      sleep_for(kMoment);
      ended = true;
    });
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace lockstep::internal
