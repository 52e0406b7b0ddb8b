// sleep_for: the one place where Lockstep's own code sleeps, so that a simulator can replace it.
#pragma once

#include <chrono>
#include <thread>

namespace lockstep::internal {

/// Blocks the calling thread for at least this long.
template <typename Rep, typename Period>
void sleep_for(const std::chrono::duration<Rep, Period>& time) {
  std::this_thread::sleep_for(time);
}

}  // namespace lockstep::internal
