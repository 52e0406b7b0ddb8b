// Chooses among combinations of methods by the cost of their steps. Separate from the measurement,
// so that it can be tested with invented times.
#pragma once

#include "engine/onednn/plan/convolution_method.h"

#include <span>
#include <vector>

namespace lockstep::internal::engine::onednn {

/// One way to compute a convolution. A step that several combinations have in common has the same
/// number in each: reorders of weights are steps too, and belong to no single pass.
struct Combination {
  Methods methods;
  std::vector<std::size_t> steps;
};

/// The sum of its steps' costs.
double cost(const Combination& combination, std::span<const double> seconds);

/// The combination with the most direct passes, which are more exact, among those within 2 % of the
/// fastest. REQUIRES: there is a combination.
const Combination& best_of(const std::vector<Combination>& combinations,
                           std::span<const double> seconds);

/// Whether no other combination is close to the best: more measurements would not change the
/// choice.
bool is_clear(const std::vector<Combination>& combinations, std::span<const double> seconds);

}  // namespace lockstep::internal::engine::onednn
