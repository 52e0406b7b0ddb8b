// LARS (You, Gitman and Ginsburg, 2017): SGD in which each tensor has a rate of its own, so that
// its update stays in proportion to its weights however large the batch makes the learning rate:
//   ratio = trust · |w| / (|g| + weight_decay · |w|)
//   v ← momentum · v + ratio · (g + weight_decay · w);   w ← w − learning_rate · v
// The ratio is 1 where |w| or |g| is 0, and for tensors that are not decayed. The learning rate is
// outside v, as in PyTorch's SGD: where the ratio is 1 throughout, LARS is SGD.
#pragma once

#include "optim/flat_optimizer.h"

#include <memory>

namespace lockstep::optim {

struct LarsOptions {
  double learning_rate = 0.1;  ///< larger than SGD's by about 1 / trust, divided by |w| / |g|
  double momentum = 0.9;
  double weight_decay = 0;
  bool nesterov = false;  ///< needs momentum above 0
  double trust = 0.001;   ///< how much of its norm a tensor may change in a step, at a rate of 1
};

/// T is float or double. Steps over whole tensors only. Throws UsageError for options that make no
/// sense. The same bits for any number of threads.
template <typename T>
std::unique_ptr<Optimizer> make_lars(Flat<T> flat, const LarsOptions& options);

}  // namespace lockstep::optim
