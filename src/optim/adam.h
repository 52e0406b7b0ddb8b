// Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019) as PyTorch defines them, in
// one pass, with the moving averages of moments.h:
//   Adam    g ← g + weight_decay · w, then   w ← w − learning_rate · m̂ / (√v̂ + epsilon)
//   AdamW   w ← w − learning_rate · weight_decay · w, then the same: decay is not divided by √v̂
#pragma once

#include "optim/flat_optimizer.h"

#include <memory>

namespace lockstep::optim {

struct AdamOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9;       ///< what is kept of the average of gradients
  double beta2 = 0.999;     ///< and of squares; less follows changes faster
  double epsilon = 1e-8;    ///< keeps weights whose gradients are tiny from jumping
  double weight_decay = 0;  ///< AdamW is usually given 0.01 or more
  bool decoupled = false;   ///< AdamW
};

/// T is float or double. Throws UsageError for options that make no sense. The same bits for any
/// number of threads.
template <typename T>
std::unique_ptr<Optimizer> make_adam(Flat<T> flat, const AdamOptions& options);

}  // namespace lockstep::optim
