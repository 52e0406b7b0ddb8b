// Stochastic gradient descent with momentum and weight decay, as PyTorch defines it, in one pass:
//   g ← g + weight_decay · w;   v ← momentum · v + g;   w ← w − learning_rate · v
// or, with Nesterov momentum, w ← w − learning_rate · (g + momentum · v). Every product and every
// sum is rounded separately: all processors and all numbers of threads give the same bits.
#pragma once

#include "optim/flat_optimizer.h"

#include <memory>
#include <span>

namespace lockstep::internal::optim {

struct SgdOptions {
  double learning_rate = 0.01;
  double momentum = 0;      ///< 0.9 is common for larger models; 0 keeps no state
  double weight_decay = 0;  ///< 1e-4 to 5e-4 is common; 0 for none
  bool nesterov = false;    ///< Nesterov momentum; needs momentum above 0
};

/// T is float or double. Throws UsageError for options out of range. A step over many elements uses
/// OpenMP threads.
template <typename T>
std::unique_ptr<Optimizer> make_sgd(Flat<T> flat, const SgdOptions& options);

/// The same for one tensor.
template <typename T>
std::unique_ptr<Optimizer> make_sgd(std::span<T> weights, std::span<const T> gradients,
                                    const SgdOptions& options);

}  // namespace lockstep::internal::optim
