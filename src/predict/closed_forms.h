// What each collective costs by each algorithm, as a closed form: which messages, bytes and
// additions come one after another on the way from the first rank's start to the last rank's end.
// The forms are those of src/comm/collectives; tests replay what that code does and compare.
#pragma once

#include <lockstep/types.h>

#include "comm/fingerprint.h"
#include "comm/recording/recorded_steps.h"
#include "predict/network.h"

namespace lockstep::predict {

/// A collective on an array of `bytes`: the whole one where ranks have parts of it. Its root is
/// rank 0.
struct Collective {
  comm::Operation operation = comm::Operation::all_reduce;
  Algorithm algorithm = Algorithm::automatic;
  double bytes = 0;
};

/// What comes one after another. Times the network's numbers, it is the time.
struct Cost {
  double agreements = 0;
  double peers = 0;     ///< that a rank agrees with, one by one
  double messages = 0;  ///< times α
  double bytes = 0;     ///< times β
  double added = 0;     ///< bytes, times γ
  double meetings = 0;  ///< times α₁
  double copied = 0;    ///< bytes, times β₁
  double busy = 1;      ///< ranks at work at a time, on average

  double seconds(const Network& network) const;
  /// The same where so many cores do the work of all ranks; 0 for as many as ranks.
  double seconds(const Network& network, int cores) const;
};

/// The algorithm that `automatic` stands for; any other is itself.
Algorithm resolve(const Collective& collective, const comm::RecordedWorld& world);

/// The network decides only whether a ring's latencies hide behind its bytes. Throws UsageError for
/// an algorithm that the operation, or a world of so many hosts, does not have.
Cost cost_of(const Collective& collective, const comm::RecordedWorld& world,
             const Network& network);

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
