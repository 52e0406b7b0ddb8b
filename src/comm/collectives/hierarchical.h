// hierarchical: an all-reduce of ranks on several hosts that moves as much as it can within each.
//
// Where every host has g ranks: within each host rank i adds up part i of the g arrays; the ranks i
// of all hosts form a lane, which all-reduces part i over the network; within each host all copy
// all parts. The network carries each byte once a host, not once a rank. Where hosts have unequally
// many ranks, and for what is left when the array is divided by g, the first rank of each host does
// the network's part for its host.
#pragma once

#include "comm/transport.h"

namespace lockstep::comm {

/// A rank's place on its host, and what it has to reach the others. All must outlive the call.
struct HostPlace {
  DirectCollectives& local;      ///< among the ranks of this host
  int rank = 0;                  ///< among them
  int ranks = 1;                 ///< of this host
  int world = 1;                 ///< ranks of all hosts
  Transport* lane = nullptr;     ///< the ranks with this place on every host, if all have one
  Transport* leaders = nullptr;  ///< the first rank of every host, if this one is such
};

/// REQUIRES: the ranks have agreed on `call`.
void hierarchical_all_reduce(const HostPlace& host, const Fingerprint& call, ArrayView data,
                             ReduceOp op, const Deadline& deadline);

}  // namespace lockstep::comm
