#include "predict/cost.h"

#include <algorithm>

namespace lockstep::internal::predict {

namespace {

/// The slowdown of memory accesses that miss the caches: the part of the footprint that does not
/// fit is evicted before it is used again.
double coldness(double footprint, const NetworkModel& network) {
  if (footprint <= network.cache) return 1;
  return 1 + network.far * (1 - network.cache / footprint);
}

}  // namespace

double Cost::seconds(const NetworkModel& network) const {
  return agreements * network.agreement + peers * network.per_peer + messages * network.latency +
         bytes * network.per_byte + added * network.per_added + meetings * network.meeting +
         copied * network.per_copied;
}

double Cost::seconds(const NetworkModel& network, int cores) const {
  auto turns = [&](double workers) { return cores > 0 ? std::max(1.0, workers / cores) : 1; };
  const double cold = coldness(footprint, network);
  NetworkModel slower = network;
  slower.meeting *= turns(busy);
  slower.per_added *= turns(busy) * cold;
  slower.per_copied *= turns(busy) * cold;
  if (network.by_cores()) {
    slower.latency *= turns(busy * network.message_cores);
    slower.per_byte *= turns(busy * network.message_cores) * cold;
    // All ranks agree, even if fewer are active afterwards.
    slower.agreement *= turns(peers + 1);
    slower.per_peer *= turns(peers + 1);
  }
  return seconds(slower);
}

}  // namespace lockstep::internal::predict
