// Makes an optimizer by name.
#pragma once

#include "optim/flat_optimizer.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep::internal::optim {

/// The options of all optimizers. The header of each optimizer explains its own; it ignores the
/// others.
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

/// Whether it uses momentum, rather than the moving averages of moments.h. Throws UsageError with
/// the known names if the name is unknown.
bool has_momentum(const std::string& name);

/// T is float or double. Throws UsageError for an unknown name or options out of range.
template <typename T>
std::unique_ptr<Optimizer> make_optimizer(Flat<T> flat, const OptimizerOptions& options);

}  // namespace lockstep::internal::optim
