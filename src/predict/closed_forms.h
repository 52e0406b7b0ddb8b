// What each collective costs by each algorithm, as a closed form: which messages, bytes and
// additions come one after another on the way from the first rank's start to the last rank's end.
// The forms are those of src/comm/collectives; tests replay what that code does and compare.
#pragma once

#include <lockstep/types.h>

#include "comm/algorithms.h"
#include "comm/fingerprint.h"
#include "comm/recording/recorded_steps.h"
#include "predict/cost.h"

namespace lockstep::predict {

/// A collective on an array of `bytes`: the whole one where ranks have parts of it. Its root is
/// rank 0.
struct Collective {
  comm::Operation operation = comm::Operation::all_reduce;
  Algorithm algorithm = Algorithm::automatic;
  double bytes = 0;
};

/// Whether ranks, all of one host, pass messages through its memory, where they agree as well. A
/// transport whose messages cores copy was measured like that already.
bool in_memory(const comm::RecordedWorld& world, const Network& network);

/// What ranks of such a world choose among. `native` only if it is asked for: nobody knows what
/// MPI does.
comm::Offers offers_of(const comm::RecordedWorld& world);

/// The algorithm that `automatic` stands for; any other is itself.
Algorithm resolve(const Collective& collective, const comm::RecordedWorld& world);

/// The network decides only whether a ring's latencies hide behind its bytes. Throws UsageError for
/// an algorithm that the operation, or a world of so many hosts, does not have.
Cost cost_of(const Collective& collective, const comm::RecordedWorld& world,
             const Network& network);

}  // namespace lockstep::predict
