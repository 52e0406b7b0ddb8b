#include "comm/shared/event_count.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#include <sched.h>
#include <thread>

namespace lockstep::internal::comm {

namespace {

// The word may be in memory of several processes, so the futex is not private.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout,
                   nullptr, 0);
}

}  // namespace

void EventCount::yield() {
  ::sched_yield();
}

void EventCount::sleep(std::uint32_t seen) {
  static_assert(kSlice < std::chrono::seconds(1));
  const timespec slice{0, std::chrono::nanoseconds(kSlice).count()};
  // Returns early when notified, when interrupted, or if a notification came first; the caller
  // checks again.
  futex(notifications_, FUTEX_WAIT, seen, &slice);
}

void EventCount::wake_sleepers() {
  notifications_.fetch_add(1, std::memory_order_seq_cst);
  futex(notifications_, FUTEX_WAKE, INT_MAX, nullptr);
}

int spins_for(int ranks) {
  const unsigned cores = std::thread::hardware_concurrency();
  return static_cast<unsigned>(ranks) <= cores ? 64 : 0;
}

}  // namespace lockstep::internal::comm
