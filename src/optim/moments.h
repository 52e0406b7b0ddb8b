// The moving averages of Adam, AdamW and LAMB: of the gradient and of its square,
//   m ← beta1 · m + (1 − beta1) · g;   v ← beta2 · v + (1 − beta2) · g²
// Both start at 0. Step t corrects this bias by m̂ = m / (1 − beta1^t) and v̂ = v / (1 − beta2^t).
// The update has the direction m̂ / (√v̂ + epsilon).
#pragma once

#include "base/check.h"
#include "optim/optimizer.h"

#include <cmath>
#include <vector>

namespace lockstep::internal::optim {

/// The coefficients of one training step, computed in double and rounded once.
template <typename T>
struct MomentCoefficients {
  MomentCoefficients(double first_decay, double second_decay, double small, std::uint64_t step)
      : beta1(static_cast<T>(first_decay)),
        beta2(static_cast<T>(second_decay)),
        rest1(static_cast<T>(1 - first_decay)),
        rest2(static_cast<T>(1 - second_decay)),
        epsilon(static_cast<T>(small)) {
    LOCKSTEP_CHECK(step > 0, "step() without begin_step()");
    const auto t = static_cast<double>(step);
    correction1 = 1 - std::pow(first_decay, t);
    root2 = static_cast<T>(std::sqrt(1 - std::pow(second_decay, t)));
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

}  // namespace lockstep::internal::optim
