// Cost: what of a collective comes one after another on the way from the first rank's start to the
// last rank's end, in messages, bytes and additions.
#pragma once

#include "predict/network.h"

#include <limits>

namespace lockstep::predict {

/// Times the network's numbers, it is the time.
struct Cost {
  double agreements = 0;
  double peers = 0;      ///< that a rank agrees with, one by one
  double messages = 0;   ///< times α
  double bytes = 0;      ///< times β
  double added = 0;      ///< bytes, times γ
  double meetings = 0;   ///< times α₁
  double copied = 0;     ///< bytes, times β₁
  double busy = 1;       ///< messages, or ranks that copy, at a time, on average
  double footprint = 0;  ///< bytes that all ranks touch, again and again

  double seconds(const Network& network) const;
  /// The same where so many cores do the work of all ranks; 0 for as many as it takes.
  double seconds(const Network& network, int cores) const;

  /// The same where other work has filled the caches in between.
  Cost cold() const {
    Cost cost = *this;
    cost.footprint = std::numeric_limits<double>::infinity();
    return cost;
  }
};

}  // namespace lockstep::predict
