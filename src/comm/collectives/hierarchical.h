// hierarchical: an all-reduce over several hosts that sends as little as possible between hosts.
//
// If every host has g ranks, it has three phases. Within each host, rank i adds part i of the g
// arrays. The ranks i of all hosts form a lane, which all-reduces part i over the network. Within
// each host, every rank copies all parts. The network carries each byte once per host instead of
// once per rank. If hosts have different numbers of ranks, and for the remainder of the array's
// length divided by g, the first rank of each host does the network phase for its host.
#pragma once

#include "comm/transport.h"

namespace lockstep::internal::comm {

/// A rank's place on its host, and its transports to the other ranks. All must outlive the call.
struct HostPlace {
  DirectCollectives& local;  ///< collectives among the ranks of this host
  int rank = 0;              ///< this rank's number among the ranks of this host
  int ranks = 1;             ///< number of ranks on this host
  int world = 1;             ///< number of ranks on all hosts
  /// The ranks with this place on every host; null unless every host has one.
  Transport* lane = nullptr;
  Transport* leaders = nullptr;  ///< the first rank of every host; null unless this rank is one
};

/// REQUIRES: the ranks have agreed on `call`.
void hierarchical_all_reduce(const HostPlace& host, const Fingerprint& call, ArrayView data,
                             ReduceOp op, const Deadline& deadline);

}  // namespace lockstep::internal::comm
