// LAMB (You et al., 2020): AdamW with one learning rate per tensor, as in LARS. With the moving
// averages of moments.h:
//   r = m̂ / (√v̂ + epsilon) + weight_decay · w;   w ← w − learning_rate · (|w| / |r|) · r
// The ratio |w| / |r| is 1 if either norm is 0, and for tensors without decay.
#pragma once

#include "optim/flat_optimizer.h"

#include <memory>

namespace lockstep::internal::optim {

struct LambOptions {
  double learning_rate = 0.001;  ///< the fraction of its norm by which a tensor changes in a step
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< 0.01 is common
};

/// T is float or double. Steps over whole tensors only. Throws UsageError for options out of range.
/// The result is the same to the bit for any number of threads.
template <typename T>
std::unique_ptr<Optimizer> make_lamb(Flat<T> flat, const LambOptions& options);

}  // namespace lockstep::internal::optim
