// Stochastic gradient descent with momentum and weight decay, as PyTorch defines it, in one pass:
//   g ← g + weight_decay · w;   v ← momentum · v + g;   w ← w − learning_rate · v
// or, as Nesterov has it, w ← w − learning_rate · (g + momentum · v). Every product and every sum
// is rounded by itself: all processors and all numbers of threads give the same bits.
#pragma once

#include "optim/flat_optimizer.h"

#include <memory>
#include <span>

namespace lockstep::optim {

struct SgdOptions {
  double learning_rate = 0.01;
  double momentum = 0;      ///< 0.9 is usual for larger networks; 0 keeps no state
  double weight_decay = 0;  ///< 1e-4 to 5e-4 is usual; 0 for none
  bool nesterov = false;    ///< steps from where momentum leads to; needs momentum above 0
};

/// T is float or double. Throws UsageError for options that make no sense. A step over many
/// elements uses as many threads as torch does for its caller.
template <typename T>
std::unique_ptr<Optimizer> make_sgd(Flat<T> flat, const SgdOptions& options);

/// Of one tensor.
template <typename T>
std::unique_ptr<Optimizer> make_sgd(std::span<T> weights, std::span<const T> gradients,
                                    const SgdOptions& options);

}  // namespace lockstep::optim
