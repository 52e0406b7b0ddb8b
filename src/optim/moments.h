// The moving averages that Adam, AdamW and LAMB share: of the gradient and of its square,
//   m ← beta1 · m + (1 − beta1) · g;   v ← beta2 · v + (1 − beta2) · g²
// Both begin with 0, which step t makes good by m̂ = m / (1 − beta1^t) and v̂ = v / (1 − beta2^t).
// The update goes along m̂ / (√v̂ + epsilon).
#pragma once

#include "base/check.h"
#include "optim/optimizer.h"

#include <cmath>
#include <vector>

namespace lockstep::optim {

/// The numbers of one training step, computed in double and rounded once.
template <typename T>
struct MomentNumbers {
  MomentNumbers(double first_share, double second_share, double small, std::uint64_t step)
      : beta1(static_cast<T>(first_share)),
        beta2(static_cast<T>(second_share)),
        rest1(static_cast<T>(1 - first_share)),
        rest2(static_cast<T>(1 - second_share)),
        epsilon(static_cast<T>(small)) {
    LOCKSTEP_CHECK(step > 0, "step() without begin_step()");
    const auto t = static_cast<double>(step);
    correction1 = 1 - std::pow(first_share, t);
    root2 = static_cast<T>(std::sqrt(1 - std::pow(second_share, t)));
  }

  T beta1, beta2, rest1, rest2, epsilon;
  double correction1 = 1;  ///< 1 − beta1^t
  T root2 = 1;             ///< √(1 − beta2^t)
};

template <typename T>
struct Moments {
  explicit Moments(std::size_t count) : first(count), second(count) {}

  std::vector<OptimizerState> state() {
    return {{"first_moment", first}, {"second_moment", second}};
  }

  std::vector<T> first, second;
};

}  // namespace lockstep::optim
