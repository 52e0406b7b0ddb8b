// The bottleneck of a run, derived from its measurements.
//
// The time of an iteration is divided into compute, waiting for the slowest rank, loading images
// and moving gradients. The largest of the last three limits the run if it takes a large enough
// fraction of the iteration; otherwise compute does. Moving gradients is bound by latency if empty
// operations would take at least half as long (number of operations times the latency of one), and
// by bandwidth otherwise.
#pragma once

#include "observe/situation.h"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace lockstep::internal::observe {

enum class Limit {
  unknown,
  compute,
  latency,
  bandwidth,
  straggler,
  data,
  oversubscribed,
  diverged
};

/// The name used in files: "compute".
std::string_view name_of(Limit limit);

struct Bottleneck {
  Limit kind = Limit::unknown;
  int rank = -1;     ///< the straggler; -1 if there is none, or if the slowest rank changes
  double share = 0;  ///< fraction of an iteration's time that the bottleneck takes, 0 to 1
  double gain = 1;   ///< expected speed-up if the advice of the verdict is followed
  std::size_t iteration = 0;  ///< where the run diverged; 0 if only its test loss shows it
};

/// {"kind": "straggler", "rank": 1, "share": 0.4, "gain": 1.7}; without "rank" and "iteration" if
/// there are none.
void to_json(nlohmann::json& json, const Bottleneck& bottleneck);
/// Throws nlohmann's exception if a field is missing. A kind that this version does not know
/// becomes Limit::unknown.
void from_json(const nlohmann::json& json, Bottleneck& bottleneck);

/// Fills in every field except the gain.
Bottleneck find_bottleneck(const Situation& situation);

/// The rank whose own work takes longest. All times are seconds per iteration.
struct Straggler {
  int rank = -1;         ///< -1 with fewer than two ranks
  double total = 0;      ///< an iteration of this rank
  double own = 0;        ///< own work of this rank
  double others = 0;     ///< median of the other ranks' own work
  double data = 0;       ///< part of `own` spent on loading images
  bool by_data = false;  ///< loading images explains more than half of the delay
  double waiting = 0;    ///< fraction of the others' time that they wait
  /// How much longer its own work takes than the median of the others.
  double late() const { return own - others; }
};
Straggler slowest_rank(const Situation& situation);

}  // namespace lockstep::internal::observe
