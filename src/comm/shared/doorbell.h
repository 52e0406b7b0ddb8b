// Doorbell: waiting for something in shared memory to change. Waits spin briefly, because what one
// waits for is often a microsecond away, and then sleep on a futex, because workers often outnumber
// cores.
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
    for (int spin = 0; spin < spins; ++spin) {
      if (ready()) return;
      pause(spin);
    }
    for (;;) {
      if (ready()) return;
      const std::uint32_t seen = rings_.load(std::memory_order_seq_cst);
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      if (!ready()) sleep(seen);
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      if (ready()) return;
      tick();
    }
  }

  /// How long a sleeper goes without looking around, even if nobody rings: bounds how late the
  /// death of a peer, who can no longer ring, is noticed.
  static constexpr std::chrono::milliseconds kSlice{50};

 private:
  static void pause(int spin);
  void sleep(std::uint32_t seen);
  void wake();

  std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

/// Spins worth their while for a group of `ranks` on this machine: many if each rank can have a
/// core of its own, few if spinning would keep a peer from running.
int spins_for(int ranks);

}  // namespace lockstep::comm
