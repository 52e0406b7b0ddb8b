#include "optim/option_checks.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <string_view>

namespace lockstep::internal::optim {

namespace {

void require(bool valid, std::string_view what, double value, std::string_view range) {
  if (!valid) throw UsageError(fmt::format("the {} is {}: {}", what, value, range));
}

constexpr std::string_view kFromZero = "it must be 0 or more";
constexpr std::string_view kAboveZero = "it must be more than 0";
constexpr std::string_view kBelowOne = "it must be from 0 to below 1";

bool is_below_one(double value) {
  return value >= 0 && value < 1;
}

}  // namespace

void require_learning_rate(double rate) {
  require(rate >= 0, "learning rate", rate, kFromZero);
}

void require_weight_decay(double decay) {
  require(decay >= 0, "weight decay", decay, kFromZero);
}

void require_momentum(double momentum) {
  require(is_below_one(momentum), "momentum", momentum, kBelowOne);
}

void require_nesterov(double momentum) {
  if (!(momentum > 0)) throw UsageError("Nesterov momentum needs a momentum above 0");
}

void require_betas(double beta1, double beta2) {
  require(is_below_one(beta1), "beta1", beta1, kBelowOne);
  require(is_below_one(beta2), "beta2", beta2, kBelowOne);
}

void require_epsilon(double epsilon) {
  require(epsilon > 0, "epsilon", epsilon, kAboveZero);
}

void require_trust(double trust) {
  require(trust > 0, "trust coefficient", trust, kAboveZero);
}

}  // namespace lockstep::internal::optim
