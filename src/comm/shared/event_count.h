// EventCount: waits for a change in shared memory. A wait first spins briefly, because the change
// is often a microsecond away; then it yields the core, possibly to the awaited rank; then it
// sleeps on a futex, because workers often outnumber cores.
//
// No notification is lost: the waiter registers itself (sleepers), checks the condition again, then
// sleeps on the notification count it saw before. The notifier changes the data, checks for
// sleepers, then notifies. All four accesses are sequentially consistent, so either the waiter sees
// the change or the notifier sees the waiter.
#pragma once

#include "base/deadline.h"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace lockstep::internal::comm {

/// Located in memory that threads or processes share; all zero is its initial state.
class EventCount {
 public:
  /// Wakes all waiters. REQUIRES: the awaited change was made before, by a sequentially consistent
  /// store or read-modify-write.
  void notify() {
    if (sleepers_.load(std::memory_order_seq_cst) > 0) wake_sleepers();
  }

  /// Returns as soon as ready() is true. Calls tick() about every kSlice until then; tick() throws
  /// to end the wait. Both are called often and must be cheap.
  template <typename Ready, typename Tick>
  void wait(int spins, Ready ready, Tick tick) {
    // After a notification that was not enough, such as one piece of a long message, more is
    // expected soon. Sleeping again at once would add a wake-up to the next piece.
    while (!spin(spins, ready) && !sleep_until_notified(ready, tick)) {
    }
  }

  /// The part of wait() after spin().
  template <typename Ready, typename Tick>
  void sleep_until(Ready ready, Tick tick) {
    while (!sleep_until_notified(ready, tick)) {
    }
  }

  /// The part of wait() before it sleeps: checks `spins` times, yields the core, and repeats for
  /// kYieldSeconds. Returns whether ready() became true.
  template <typename Ready>
  static bool spin(int spins, Ready ready) {
    for (double end = 0; end == 0 || now_seconds() < end; yield()) {
      for (int i = 0; i < spins; ++i) {
        if (ready()) return true;
        __builtin_ia32_pause();
      }
      if (ready()) return true;
      if (end == 0) end = now_seconds() + kYieldSeconds;
    }
    return ready();
  }

  /// Longest sleep without a call of tick(): bounds the time until the death of a peer, which can
  /// no longer notify, is detected.
  static constexpr std::chrono::milliseconds kSlice{50};

  /// How long a wait yields its core before it sleeps. Longer than two ranks on one core need to
  /// take turns on a megabyte; shorter than a time slice of another program, after which sleeping
  /// is better, because the scheduler prefers threads that were woken.
  static constexpr double kYieldSeconds = 200e-6;

 private:
  /// Returns ready(); false after a notification for another change.
  template <typename Ready, typename Tick>
  bool sleep_until_notified(Ready ready, Tick tick) {
    for (;;) {
      if (ready()) return true;
      const std::uint32_t seen = notifications_.load(std::memory_order_seq_cst);
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      if (!ready()) sleep(seen);
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      if (ready()) return true;
      tick();
      if (notifications_.load(std::memory_order_seq_cst) != seen) return false;
    }
  }

  static void yield();
  void sleep(std::uint32_t seen);
  void wake_sleepers();

  std::atomic<std::uint32_t> notifications_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

/// Number of checks before a member of a group of `ranks` yields its core: about a microsecond's
/// worth if every rank can have its own core, none if checking would keep a peer from running. It
/// stays short because a core may have other work.
int spins_for(int ranks);

}  // namespace lockstep::internal::comm
