// Reference values for an all-reduce: its lower bound, and a common estimate.
#pragma once

#include "predict/network_model.h"

namespace lockstep::internal::predict {

/// The least time of an all-reduce of `bytes`: each rank must send 2n(p−1)/p bytes and add
/// n(p−1)/p, which may overlap, and one rank's data reach all others in no less than ⌈lg p⌉
/// messages.
double lower_bound(double bytes, int ranks, const NetworkModel& network);

/// The fraction of its link's bandwidth that an all-reduce of this duration uses: 2n(p−1)/p bytes
/// over the bytes that the link could have sent.
double utilisation(double bytes, int ranks, double seconds, const NetworkModel& network);

/// message ÷ bandwidth × log2 p, a common estimate.
double naive_seconds(double bytes, int ranks, const NetworkModel& network);
/// One sentence about the errors of naive_seconds().
const char* naive_misleads();

}  // namespace lockstep::internal::predict
