#include "predict/bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lockstep::predict {

double lower_bound(double bytes, int ranks, const Network& network) {
  if (ranks < 2) return 0;
  const double share = bytes * (ranks - 1) / ranks;
  return std::max({std::bit_width(static_cast<unsigned>(ranks - 1)) * network.latency,
                   2 * share * network.per_byte, share * network.per_added});
}

double utilisation(double bytes, int ranks, double seconds, const Network& network) {
  return seconds > 0 ? 2 * bytes * (ranks - 1) / ranks * network.per_byte / seconds : 0;
}

double naive_seconds(double bytes, int ranks, const Network& network) {
  return bytes * network.per_byte * std::log2(ranks);
}

const char* naive_misleads() {
  return "message / bandwidth x log2 P holds for half of a binomial tree and for nothing else: for "
         "long arrays a ring or halving-doubling sends 2n(P-1)/P bytes whatever P is, so it is far "
         "too high for many ranks; and it knows no latency, so it is far too low for short arrays, "
         "and for a ring of many ranks.";
}

}  // namespace lockstep::predict
