// LAMB (You et al., 2020): AdamW in which each tensor has a rate of its own, as in LARS. With the
// moving averages of moments.h:
//   r = m̂ / (√v̂ + epsilon) + weight_decay · w;   w ← w − learning_rate · (|w| / |r|) · r
// The ratio |w| / |r| is 1 where either is 0, and for tensors that are not decayed.
#pragma once

#include "optim/flat_optimizer.h"

#include <memory>

namespace lockstep::optim {

struct LambOptions {
  double learning_rate = 0.001;  ///< the share of its norm by which a tensor changes in a step
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< 0.01 is usual
};

/// T is float or double. Steps over whole tensors only. Throws UsageError for options that make no
/// sense. The same bits for any number of threads.
template <typename T>
std::unique_ptr<Optimizer> make_lamb(Flat<T> flat, const LambOptions& options);

}  // namespace lockstep::optim
