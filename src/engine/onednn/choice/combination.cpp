#include "engine/onednn/choice/combination.h"

#include "base/check.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace lockstep::internal::engine::onednn {

namespace {

constexpr double kAsGood = 1.02;
constexpr double kClearlyWorse = 1.1;

int direct_passes(const Methods& methods) {
  int count = 0;
  for (Method method : {methods.forward, methods.backward_data, methods.backward_weights})
    count += method == Method::direct ? 1 : 0;
  return count;
}

}  // namespace

double cost(const Combination& combination, std::span<const double> seconds) {
  double sum = 0;
  for (std::size_t step : combination.steps) sum += seconds[step];
  return sum;
}

const Combination& best_of(const std::vector<Combination>& combinations,
                           std::span<const double> seconds) {
  LOCKSTEP_CHECK(!combinations.empty(), "there is no combination to choose from");
  double fastest = std::numeric_limits<double>::max();
  for (const Combination& one : combinations) fastest = std::min(fastest, cost(one, seconds));
  auto rank = [&](const Combination& one) {
    const double its = cost(one, seconds);
    const bool as_good = its <= kAsGood * fastest;
    return std::tuple(!as_good, as_good ? -direct_passes(one.methods) : 0, its);
  };
  return *std::ranges::min_element(combinations, {}, rank);
}

bool is_clear(const std::vector<Combination>& combinations, std::span<const double> seconds) {
  const Combination& best = best_of(combinations, seconds);
  const double limit = kClearlyWorse * cost(best, seconds);
  return std::ranges::all_of(combinations, [&](const Combination& one) {
    return &one == &best || cost(one, seconds) > limit;
  });
}

}  // namespace lockstep::internal::engine::onednn
