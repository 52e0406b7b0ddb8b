#include "predict/cost.h"

#include <algorithm>

namespace lockstep::predict {

namespace {

/// How much longer a byte takes than one that comes from the caches: of what all ranks touch in
/// turn, the part that does not fit is not there when it is needed again.
double coldness(double footprint, const Network& network) {
  if (footprint <= network.cache) return 1;
  return 1 + network.far * (1 - network.cache / footprint);
}

}  // namespace

double Cost::seconds(const Network& network) const {
  return agreements * network.agreement + peers * network.per_peer + messages * network.latency +
         bytes * network.per_byte + added * network.per_added + meetings * network.meeting +
         copied * network.per_copied;
}

double Cost::seconds(const Network& network, int cores) const {
  auto turns = [&](double workers) { return cores > 0 ? std::max(1.0, workers / cores) : 1; };
  const double cold = coldness(footprint, network);
  Network slower = network;
  slower.meeting *= turns(busy);
  slower.per_added *= turns(busy) * cold;
  slower.per_copied *= turns(busy) * cold;
  if (network.by_cores()) {
    slower.latency *= turns(busy * network.message_cores);
    slower.per_byte *= turns(busy * network.message_cores) * cold;
    // All ranks agree, however many are at work afterwards.
    slower.agreement *= turns(peers + 1);
    slower.per_peer *= turns(peers + 1);
  }
  return seconds(slower);
}

}  // namespace lockstep::predict
