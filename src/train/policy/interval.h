// The interval between collectives that are not needed in every step. It is meant as a time, but
// ranks count steps, so that all of them call the collective after the same step.
#pragma once

#include <algorithm>
#include <cstddef>

namespace lockstep::internal::train {

/// The number of steps in about so many seconds, if each takes `slowest` seconds: at least 1, at
/// most 10,000, so that a wrong estimate does not last. The same on all ranks if `slowest` is.
inline std::size_t steps_within(double seconds, double slowest) {
  constexpr double kMostSteps = 10'000;
  return static_cast<std::size_t>(std::clamp(seconds / std::max(slowest, 1e-9), 1.0, kMostSteps));
}

}  // namespace lockstep::internal::train
