// Recipe: how a run learns, beside its model and its data: optimizer, learning rate over time, and
// the remedies that keep accuracy when the batch grows. docs/large-batch.md says when to use which.
#pragma once

#include "optim/optimizers.h"
#include "optim/schedule.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>

namespace lockstep::train {

struct Recipe {
  std::string optimizer = "sgd";  ///< one of optim::optimizer_names()
  double beta1 = 0.9;             ///< of adam, adamw and lamb
  double beta2 = 0.999;           ///< of adam, adamw and lamb
  double epsilon = 1e-8;          ///< of adam, adamw and lamb
  double trust = 0.001;           ///< of lars
  bool no_decay_bn_bias = false;  ///< biases and batch norm: no decay, and no rate of their own

  std::string schedule = "constant";  ///< see optim/schedule.h
  double warmup = 0;                  ///< epochs
  std::string lr_scale = "none";      ///< one of optim::scaling_names()
  std::size_t lr_batch = 256;         ///< the batch that the learning rate is for; with lr_scale

  double clip = 0;             ///< the gradients' largest norm; 0 for any
  double clip_value = 0;       ///< a gradient's largest element; 0 for any
  double label_smoothing = 0;  ///< the share of the target that all classes have alike
  bool zero_gamma = false;     ///< residual blocks begin as if they were not there
  int accumulate = 1;          ///< parts that a worker computes its share of a batch in

  /// Throws UsageError that names the option and its range.
  void validate() const;

  /// What --lr is multiplied by.
  double scale(std::size_t batch) const { return optim::rate_scale(lr_scale, batch, lr_batch); }

  /// By their names on the command line: all that decides what a step computes.
  std::map<std::string, std::string> identity() const;
};

/// For config.json: its keys are added to `config`.
void add_to_json(const Recipe& recipe, nlohmann::json& config);

}  // namespace lockstep::train
