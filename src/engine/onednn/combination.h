// Choosing among combinations of methods by what their steps cost. Apart from the timing, so that
// it can be tested with times that nobody measured.
#pragma once

#include "engine/onednn/convolution_method.h"

#include <span>
#include <vector>

namespace lockstep::engine::onednn {

/// One way to compute a convolution. A step that several combinations have in common has the same
/// number in each: reorders of weights are steps, too, and belong to no pass alone.
struct Combination {
  Methods methods;
  std::vector<std::size_t> steps;
};

/// The sum of what its steps cost, by their numbers.
double cost(const Combination& combination, std::span<const double> seconds);

/// Of those within 2 % of the fastest, which are as good as it, the one with the most direct
/// passes: they are more exact. REQUIRES: there is one.
const Combination& best_of(const std::vector<Combination>& combinations,
                           std::span<const double> seconds);

/// No other comes near the best: measuring on would change nothing.
bool is_clear(const std::vector<Combination>& combinations, std::span<const double> seconds);

}  // namespace lockstep::engine::onednn
