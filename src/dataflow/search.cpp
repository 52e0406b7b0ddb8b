#include "dataflow/search.h"

#include <lockstep/error.h>

#include "dataflow/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace lockstep::internal::dataflow {

namespace {

using Score = std::pair<double, double>;  // the goal, and the tie-breaker

Score score_of(const Chip& chip, Goal goal, const Cost& cost) {
  const double energy = energy_of(chip, cost.macs, cost.accesses).total();
  const auto time = static_cast<double>(cost.cycles.total());
  return goal == Goal::kEnergy ? Score{energy, time} : Score{time, energy};
}

class Search {
 public:
  Search(const Layer& layer, const Chip& chip, Goal goal)
      : layer_(layer), chip_(chip), goal_(goal), images_(even_parts(layer.batch, layer.batch)) {}

  Mapping run() {
    for (Count e : even_parts(layer_.out_height(), chip_.columns * chip_.rows)) try_strips(e);
    return best_;
  }

 private:
  void try_strips(Count e) {
    const Count room = place(layer_, chip_, e).sets();
    for (Count r = 1; r <= std::min(room, layer_.group_channels()); ++r)
      for (Count t = 1; t <= std::min(room / r, layer_.group_filters()); ++t)
        try_sets({.e = e, .r = r, .t = t});
  }

  void try_sets(Mapping mapping) {
    const Count width = layer_.kernel_width;
    const Count most_q =
        std::min(chip_.registers.ifmap / width, ceil_div(layer_.group_channels(), mapping.r));
    for (mapping.q = 1; mapping.q <= most_q; ++mapping.q) {
      const Count window = mapping.q * width;
      const Count most_p = std::min(
          {chip_.registers.psum, chip_.registers.filter / window,
           chip_.filter_buffer_words() / (window * layer_.kernel_height * mapping.r * mapping.t),
           ceil_div(layer_.group_filters(), mapping.t)});
      for (mapping.p = 1; mapping.p <= most_p; ++mapping.p)
        for (Count n : images_) try_images(mapping, n);
    }
  }

  /// As many filters in the buffer as fit, but no more than their number of blocks needs.
  void try_images(Mapping mapping, Count n) {
    mapping.n = n;
    mapping.m = 0;
    const Count room = chip_.buffer_words() - buffer_need(layer_, mapping);
    const Count most = room < 0 ? 0 : room / (n * mapping.e * layer_.out_width());
    const Count filters = layer_.group_filters();
    if (most >= filters) {
      mapping.m = filters;
    } else {
      const Count group = mapping.p * mapping.t;
      if (most < group) return;
      const Count groups = ceil_div(filters, group);
      mapping.m = group * ceil_div(groups, ceil_div(groups, most / group));
    }
    consider(mapping);
  }

  void consider(const Mapping& mapping) {
    const Score score = score_of(chip_, goal_, cost_of(layer_, chip_, mapping));
    if (score >= score_) return;
    score_ = score;
    best_ = mapping;
  }

  const Layer& layer_;
  const Chip& chip_;
  const Goal goal_;
  const std::vector<Count> images_;
  Score score_{std::numeric_limits<double>::infinity(), 0};
  Mapping best_;
};

}  // namespace

Goal parse_goal(std::string_view name) {
  if (name == "energy") return Goal::kEnergy;
  if (name == "time") return Goal::kTime;
  throw UsageError(fmt::format("unknown goal '{}': use energy or time", name));
}

Mapping best_mapping(const Layer& layer, const Chip& chip, Goal goal) {
  require_sound(layer);
  require_sound(chip);
  // This is the smallest mapping: every other one needs more.
  if (const auto reason = forbidden(layer, chip, Mapping{}))
    throw UsageError(fmt::format("layer {}: no mapping fits the chip: {}", layer.name, *reason));
  return Search(layer, chip, goal).run();
}

bool is_better(const Chip& chip, Goal goal, const Cost& one, const Cost& other) {
  return score_of(chip, goal, one) < score_of(chip, goal, other);
}

}  // namespace lockstep::internal::dataflow
