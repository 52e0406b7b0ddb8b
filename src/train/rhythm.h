// How often ranks do together what need not be done in every step: by time, though they count
// steps.
#pragma once

#include <algorithm>
#include <cstddef>

namespace lockstep::train {

/// Steps until about so many seconds have passed, if each is as long as the slowest. At least one,
/// and never so many that a wrong guess lasts. The same on all ranks if `slowest` is.
inline std::size_t steps_within(double seconds, double slowest) {
  constexpr double kMostSteps = 10'000;
  return static_cast<std::size_t>(std::clamp(seconds / std::max(slowest, 1e-9), 1.0, kMostSteps));
}

}  // namespace lockstep::train
