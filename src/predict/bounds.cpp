#include "predict/bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lockstep::internal::predict {

double lower_bound(double bytes, int ranks, const NetworkModel& network) {
  if (ranks < 2) return 0;
  const double part = bytes * (ranks - 1) / ranks;
  return std::max({std::bit_width(static_cast<unsigned>(ranks - 1)) * network.latency,
                   2 * part * network.per_byte, part * network.per_added});
}

double utilisation(double bytes, int ranks, double seconds, const NetworkModel& network) {
  return seconds > 0 ? 2 * bytes * (ranks - 1) / ranks * network.per_byte / seconds : 0;
}

double naive_seconds(double bytes, int ranks, const NetworkModel& network) {
  return bytes * network.per_byte * std::log2(ranks);
}

const char* naive_misleads() {
  return "message / bandwidth x log2 P describes half of a binomial tree only. For long arrays a "
         "ring or halving-doubling sends 2n(P-1)/P bytes for any P, so the estimate is far too "
         "high with many ranks. It has no latency, so it is far too low for short arrays, and for "
         "a ring of many ranks.";
}

}  // namespace lockstep::internal::predict
