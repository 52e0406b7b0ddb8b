// What limits a run, found in its measurements.
//
// Of an iteration's time that is not compute some is lost to the slowest rank, some to loading
// images, some to moving gradients. Whichever is largest limits the run if it is a good part of the
// iteration; otherwise compute does. Gradients that take long to move are many small ones (latency:
// the operations' number times what one takes with nothing in it), or large (bandwidth).
#pragma once

#include "observe/situation.h"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace lockstep::observe {

enum class Limit { unknown, compute, latency, bandwidth, straggler, data, oversubscribed };

/// "compute", as files have it.
std::string_view name_of(Limit limit);

struct Bottleneck {
  Limit kind = Limit::unknown;
  int rank = -1;     ///< the straggler; -1 if there is none, or none that is always the slowest
  double share = 0;  ///< of an iteration's time that it takes
  double gain = 1;   ///< the run could be so many times as fast, if the verdict's advice is taken
};

/// {"kind": "straggler", "rank": 1, "share": 0.4, "gain": 1.7}; without a rank if there is none.
void to_json(nlohmann::json& json, const Bottleneck& bottleneck);
/// Throws nlohmann's exception if something is missing; a kind of a later version is unknown.
void from_json(const nlohmann::json& json, Bottleneck& bottleneck);

/// All but the gain.
Bottleneck find_bottleneck(const Situation& situation);

/// The rank with the most work of its own, and how many seconds more that takes than the median of
/// the other ranks' own work. Rank -1 with fewer than two ranks.
struct Straggler {
  int rank = -1;
  double own = 0;        ///< seconds
  double others = 0;     ///< the median
  double data = 0;       ///< of its own seconds, loading images
  bool by_data = false;  ///< loading is most of what makes it late
  double late() const { return own - others; }
};
Straggler slowest_rank(const Situation& situation);

}  // namespace lockstep::observe
