// A point in time after which waiting is an error. It is passed down to every wait, so that nested
// waits share one limit instead of adding up.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <utility>

namespace lockstep::internal {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline after(std::chrono::milliseconds timeout) { return Deadline(timeout); }

  bool passed() const { return Clock::now() >= end_; }

  /// Time left, never negative.
  std::chrono::milliseconds left() const {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
    return std::max(left, std::chrono::milliseconds(0));
  }

  /// The whole duration, for messages.
  double seconds() const { return std::chrono::duration<double>(timeout_).count(); }

 private:
  // A year stands for "forever", far from the overflow of clocks.
  explicit Deadline(std::chrono::milliseconds timeout)
      : timeout_(std::min<std::chrono::milliseconds>(timeout, std::chrono::hours(24 * 365))),
        end_(Clock::now() + timeout_) {}

  std::chrono::milliseconds timeout_;
  Clock::time_point end_;
};

/// When a wait ends: at the deadline, or earlier, when `tick` throws.
struct WaitLimit {
  WaitLimit(const Deadline& deadline, std::function<void()> tick = {})
      : deadline(deadline), tick(std::move(tick)) {}

  void check() const {
    if (tick) tick();
  }

  Deadline deadline;
  /// Called repeatedly by the waiting thread, at least every kTick. May be empty.
  std::function<void()> tick;

  static constexpr std::chrono::milliseconds kTick{500};
};

/// Seconds on the steady clock, for measuring durations.
inline double now_seconds() {
  return std::chrono::duration<double>(Deadline::Clock::now().time_since_epoch()).count();
}

/// The time that this thread has computed, in seconds: it excludes other work on the machine.
inline double seconds_of_thread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace lockstep::internal
