// Divergence: a training whose loss exploded or is not finite.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::observe {

/// How a run learned, and the options that decide it.
struct Learning {
  std::vector<double> losses{};  ///< training loss by iteration, mean over the global batch
  std::size_t done_before = 0;   ///< iterations before the first of them, in a resumed run
  double test_loss = 0;          ///< after the last iteration
  int classes = 0;
  double rate = 0;  ///< --lr
  bool warms_up = false;
  bool clips = false;  ///< --clip or --clip-value
};

struct Divergence {
  std::size_t iteration =
      0;             ///< where the training loss exploded; 0 if only the test loss is large
  std::string text;  ///< what happened, and what helps
};

/// Empty for a run whose loss is finite and not far above the loss of guessing, or above that of
/// its first iterations.
std::optional<Divergence> find_divergence(const Learning& learning);

}  // namespace lockstep::internal::observe
