// Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019) as PyTorch defines them, in
// one pass, with the moving averages of moments.h:
//   Adam    g ← g + weight_decay · w, then   w ← w − learning_rate · m̂ / (√v̂ + epsilon)
//   AdamW   w ← w − learning_rate · weight_decay · w, then the same: decay is not divided by √v̂
#pragma once

#include "optim/flat_optimizer.h"

#include <memory>

namespace lockstep::internal::optim {

struct AdamOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9;     ///< decay rate of the first moment
  double beta2 = 0.999;   ///< decay rate of the second moment; a smaller one follows changes faster
  double epsilon = 1e-8;  ///< added to the denominator for numerical stability
  double weight_decay = 0;  ///< 0.01 or more is common for AdamW
  bool decoupled = false;   ///< AdamW
};

/// T is float or double. Throws UsageError for options out of range. The result is the same to the
/// bit for any number of threads.
template <typename T>
std::unique_ptr<Optimizer> make_adam(Flat<T> flat, const AdamOptions& options);

}  // namespace lockstep::internal::optim
