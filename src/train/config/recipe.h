// Recipe: optimizer, learning rate schedule, and the techniques that keep accuracy with large
// batches. docs/large-batch.md says when to use which.
#pragma once

#include "optim/optimizers.h"
#include "optim/schedule.h"

#include <cstddef>
#include <string>

namespace lockstep::internal::train {

struct Recipe {
  std::string optimizer = "sgd";  ///< one of optim::optimizer_names()
  double beta1 = 0.9;             ///< adam, adamw, lamb: decay rate of the first moment
  double beta2 = 0.999;           ///< adam, adamw, lamb: decay rate of the second moment
  double epsilon = 1e-8;          ///< adam, adamw, lamb: added to the denominator
  double trust = 0.001;           ///< lars: trust coefficient
  bool no_decay_bn_bias =
      false;  ///< for biases and batch norm; lars and lamb do not scale their rate

  std::string schedule = "constant";  ///< see optim/schedule.h
  double warmup = 0;                  ///< epochs in which the learning rate rises
  std::string lr_scale = "none";      ///< one of optim::scaling_names()
  std::size_t lr_batch = 256;         ///< batch size that the learning rate is for

  double clip = 0;             ///< largest norm of the gradients; 0 for no limit
  double clip_value = 0;       ///< largest element of the gradients; 0 for no limit
  double label_smoothing = 0;  ///< label smoothing factor
  bool zero_gamma = false;     ///< residual blocks start as the identity
  int accumulate = 1;          ///< parts in which a worker computes its slice of a batch

  /// The factor of the learning rate for this batch size.
  double scale(std::size_t batch) const { return optim::rate_scale(lr_scale, batch, lr_batch); }
};

}  // namespace lockstep::internal::train
