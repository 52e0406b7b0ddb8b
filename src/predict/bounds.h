// What an all-reduce is measured against: the least that is possible, and what is often reckoned
// with.
#pragma once

#include "predict/network.h"

namespace lockstep::predict {

/// No all-reduce of so many bytes takes less: each rank must send 2n(p−1)/p of them and add
/// n(p−1)/p, which may overlap, and what one rank knows reaches all others in no less than ⌈lg p⌉
/// messages.
double lower_bound(double bytes, int ranks, const Network& network);

/// The share of its link that an all-reduce of so many seconds uses: 2n(p−1)/p bytes over what the
/// link could have sent.
double utilisation(double bytes, int ranks, double seconds, const Network& network);

/// message ÷ bandwidth × log2 p: what is often reckoned with.
double naive_seconds(double bytes, int ranks, const Network& network);
/// In a sentence: when that misleads.
const char* naive_misleads();

}  // namespace lockstep::predict
