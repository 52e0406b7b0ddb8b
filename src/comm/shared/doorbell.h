// Doorbell: waiting for something in shared memory to change. Waits spin briefly, because what one
// waits for is often a microsecond away; then they offer the core to whoever else is ready to run,
// who may be the one waited for; then they sleep on a futex, because workers often outnumber cores.
//
// How a ring cannot be missed: the waiter announces itself (sleepers), then looks once more, then
// sleeps on the count of rings it saw before; the ringer changes the data, then looks for sleepers,
// then rings. All four are sequentially consistent, so either the waiter sees the change or the
// ringer sees the waiter.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace lockstep::comm {

/// Lies in memory that threads or processes share; all zero is its initial state.
class Doorbell {
 public:
  /// Wakes all who sleep here. Call after the change that they wait for, which must itself be made
  /// by a sequentially consistent store or read-modify-write.
  void ring() {
    if (sleepers_.load(std::memory_order_seq_cst) > 0) wake();
  }

  /// Returns as soon as ready() is true. Calls tick() about every kSlice while it is not; tick()
  /// throws to end the waiting. Both may be called often and must be cheap.
  template <typename Ready, typename Tick>
  void wait(int spins, Ready ready, Tick tick) {
    // Whoever was rung for but is not done, as a long message is not when a piece of it has come,
    // expects more soon: to sleep again at once would cost the next piece a wake.
    while (!spin(spins, ready) && !sleep_until_rung(ready, tick)) {
    }
  }

  /// The part of wait() after spin().
  template <typename Ready, typename Tick>
  void sleep_until(Ready ready, Tick tick) {
    while (!sleep_until_rung(ready, tick)) {
    }
  }

  /// The part of wait() before it sleeps: looks `spins` times, offers the core to others, and so
  /// on for kPatience. False if nothing but sleep remains.
  template <typename Ready>
  static bool spin(int spins, Ready ready) {
    using Clock = std::chrono::steady_clock;
    for (Clock::time_point end{}; end == Clock::time_point{} || Clock::now() < end; yield()) {
      for (int i = 0; i < spins; ++i) {
        if (ready()) return true;
        __builtin_ia32_pause();
      }
      if (ready()) return true;
      if (end == Clock::time_point{}) end = Clock::now() + kPatience;
    }
    return ready();
  }

  /// How long a sleeper goes without looking around, even if nobody rings: bounds how late the
  /// death of a peer, who can no longer ring, is noticed.
  static constexpr std::chrono::milliseconds kSlice{50};

  /// How long others are offered the core before one sleeps. Longer than two ranks that share a
  /// core need to take turns on a megabyte; shorter than the turn of a stranger who accepts an
  /// offer: after that, sleeping is better, because whoever is woken comes before those who have
  /// had their turn.
  static constexpr std::chrono::microseconds kPatience{200};

 private:
  /// Whether ready() is true; false if the bell was rung for something else.
  template <typename Ready, typename Tick>
  bool sleep_until_rung(Ready ready, Tick tick) {
    for (;;) {
      if (ready()) return true;
      const std::uint32_t seen = rings_.load(std::memory_order_seq_cst);
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      if (!ready()) sleep(seen);
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      if (ready()) return true;
      tick();
      if (rings_.load(std::memory_order_seq_cst) != seen) return false;
    }
  }

  static void yield();
  void sleep(std::uint32_t seen);
  void wake();

  std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

/// How often a member of a group of `ranks` looks before it offers its core to others: for about a
/// microsecond if each rank can have a core of its own, not at all if looking keeps a peer from
/// running. Not for longer even then, because a core may have other work than ours.
int spins_for(int ranks);

}  // namespace lockstep::comm
