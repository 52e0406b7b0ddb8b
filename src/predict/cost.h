// Cost: the messages, bytes and additions on the critical path of a collective, from the first
// rank's start to the last rank's end.
#pragma once

#include "predict/network_model.h"

#include <limits>

namespace lockstep::internal::predict {

/// Multiplied by the network's numbers, it gives the time.
struct Cost {
  double agreements = 0;
  double peers = 0;      ///< peers that a rank agrees with, one by one
  double messages = 0;   ///< times α
  double bytes = 0;      ///< times β
  double added = 0;      ///< bytes, times γ
  double meetings = 0;   ///< times α₁
  double copied = 0;     ///< bytes, times β₁
  double busy = 1;       ///< average number of concurrent messages, or of ranks that copy
  double footprint = 0;  ///< bytes that all ranks access repeatedly

  double seconds(const NetworkModel& network) const;
  /// The same if `cores` cores do the work of all ranks; 0 for enough cores.
  double seconds(const NetworkModel& network, int cores) const;

  /// The same if other work has replaced the contents of the caches.
  Cost cold() const {
    Cost cost = *this;
    cost.footprint = std::numeric_limits<double>::infinity();
    return cost;
  }
};

}  // namespace lockstep::internal::predict
