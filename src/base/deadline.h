// A moment after which waiting is an error. Passed down to whatever waits, so that nested waits
// share one limit instead of adding theirs up.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace lockstep {

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

  /// The whole time that was given, for messages.
  double seconds() const { return std::chrono::duration<double>(timeout_).count(); }

 private:
  // A year is as good as forever, and far from where clocks overflow.
  explicit Deadline(std::chrono::milliseconds timeout)
      : timeout_(std::min<std::chrono::milliseconds>(timeout, std::chrono::hours(24 * 365))),
        end_(Clock::now() + timeout_) {}

  std::chrono::milliseconds timeout_;
  Clock::time_point end_;
};

/// When waiting ends: at the deadline, or earlier, when `tick` throws.
struct WaitLimit {
  WaitLimit(const Deadline& deadline, std::function<void()> tick = {})
      : deadline(deadline), tick(std::move(tick)) {}

  void check() const {
    if (tick) tick();
  }

  Deadline deadline;
  /// Called again and again by the thread that waits, at least every kTick. May be empty.
  std::function<void()> tick;

  static constexpr std::chrono::milliseconds kTick{500};
};

/// Seconds on the steady clock, for measuring durations.
inline double now_seconds() {
  return std::chrono::duration<double>(Deadline::Clock::now().time_since_epoch()).count();
}

}  // namespace lockstep
