#include "optim/optimizers.h"

#include <lockstep/error.h>

#include "base/text.h"
#include "optim/adam.h"
#include "optim/lamb.h"
#include "optim/lars.h"
#include "optim/sgd.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep::internal::optim {

const std::vector<std::string>& optimizer_names() {
  static const std::vector<std::string> names{"sgd", "adam", "adamw", "lars", "lamb"};
  return names;
}

bool has_momentum(const std::string& name) {
  const auto& names = optimizer_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw UsageError(fmt::format("unknown optimizer '{}': choose from {}", name, enumerate(names)));
  return name == "sgd" || name == "lars";
}

template <typename T>
std::unique_ptr<Optimizer> make_optimizer(Flat<T> flat, const OptimizerOptions& options) {
  const auto& [name, rate, decay, momentum, nesterov, beta1, beta2, epsilon, trust] = options;
  if (name == "sgd") return make_sgd<T>(std::move(flat), {rate, momentum, decay, nesterov});
  if (name == "lars")
    return make_lars<T>(std::move(flat), {rate, momentum, decay, nesterov, trust});
  if (name == "lamb") return make_lamb<T>(std::move(flat), {rate, beta1, beta2, epsilon, decay});
  has_momentum(name);  // throws for an unknown name
  return make_adam<T>(std::move(flat), {rate, beta1, beta2, epsilon, decay, name == "adamw"});
}

template std::unique_ptr<Optimizer> make_optimizer(Flat<float>, const OptimizerOptions&);
template std::unique_ptr<Optimizer> make_optimizer(Flat<double>, const OptimizerOptions&);

}  // namespace lockstep::internal::optim
