// The cost of each collective by each algorithm, in closed form: the messages, bytes and additions
// on the critical path from the first rank's start to the last rank's end. The forms describe
// src/comm/collectives; tests replay the messages of that code and compare. The bytes that each
// rank sends (report/methods.h) are another quantity: on the critical path, rank 0 of a star or
// tree also receives, and a message that moves at the same time as another does not count.
#pragma once

#include <lockstep/types.h>

#include "comm/algorithms.h"
#include "comm/fingerprint.h"
#include "comm/recording/recorded_steps.h"
#include "predict/cost.h"

namespace lockstep::internal::predict {

/// A collective on an array of `bytes`: the whole array if ranks have parts of it. Its root is rank
/// 0.
struct Collective {
  comm::Operation operation = comm::Operation::all_reduce;
  Algorithm algorithm = Algorithm::automatic;
  double bytes = 0;
};

/// Whether all ranks are on one host and pass messages, and agree, through its memory. A transport
/// whose messages are copied by cores was measured in this way already.
bool in_memory(const comm::RecordedWorld& world, const NetworkModel& network);

/// The algorithms that ranks of such a world choose from. `native` only on request, since MPI's
/// algorithm is not known.
comm::Offers offers_of(const comm::RecordedWorld& world);

/// Resolves `automatic`; any other algorithm is returned unchanged.
Algorithm resolve(const Collective& collective, const comm::RecordedWorld& world);

/// The network only decides whether a ring's latencies are hidden behind its bytes. Throws
/// UsageError for an algorithm that the operation, or a world of so many hosts, does not have.
Cost cost_of(const Collective& collective, const comm::RecordedWorld& world,
             const NetworkModel& network);

}  // namespace lockstep::internal::predict
