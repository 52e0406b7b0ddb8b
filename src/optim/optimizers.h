// Optimizers by name.
#pragma once

#include "optim/flat_optimizer.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep::optim {

/// What each optimizer takes of these is in the header of that name; it leaves the others alone.
struct OptimizerOptions {
  std::string name = "sgd";  ///< one of optimizer_names()
  double learning_rate = 0.01;
  double weight_decay = 0;
  double momentum = 0;    ///< sgd and lars
  bool nesterov = false;  ///< sgd and lars
  double beta1 = 0.9;     ///< adam, adamw and lamb
  double beta2 = 0.999;   ///< adam, adamw and lamb
  double epsilon = 1e-8;  ///< adam, adamw and lamb
  double trust = 0.001;   ///< lars
};

const std::vector<std::string>& optimizer_names();

/// Whether it steps along a momentum, rather than along moving averages (moments.h). Throws
/// UsageError that lists the known names.
bool has_momentum(const std::string& name);

/// T is float or double. Throws UsageError for a name that is not known or options that make no
/// sense.
template <typename T>
std::unique_ptr<Optimizer> make_optimizer(Flat<T> flat, const OptimizerOptions& options);

}  // namespace lockstep::optim
