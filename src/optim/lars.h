// LARS (You, Gitman and Ginsburg, 2017): SGD with one learning rate per tensor, so that an update
// stays in proportion to the tensor's weights at the large learning rates of large batches:
//   ratio = trust · |w| / (|g| + weight_decay · |w|)
//   v ← momentum · v + ratio · (g + weight_decay · w);   w ← w − learning_rate · v
// The ratio is 1 if |w| or |g| is 0, and for tensors without decay. The learning rate is outside v,
// as in PyTorch's SGD: with a ratio of 1 everywhere, LARS equals SGD.
#pragma once

#include "optim/flat_optimizer.h"

#include <memory>

namespace lockstep::internal::optim {

struct LarsOptions {
  double learning_rate = 0.1;  ///< larger than SGD's by about 1 / trust, divided by |w| / |g|
  double momentum = 0.9;
  double weight_decay = 0;
  bool nesterov = false;  ///< needs momentum above 0
  double trust = 0.001;   ///< the fraction of its norm by which a tensor may change at a rate of 1
};

/// T is float or double. Steps over whole tensors only. Throws UsageError for options out of range.
/// The result is the same to the bit for any number of threads.
template <typename T>
std::unique_ptr<Optimizer> make_lars(Flat<T> flat, const LarsOptions& options);

}  // namespace lockstep::internal::optim
