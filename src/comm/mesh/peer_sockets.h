// Connecting all ranks of a group. Every rank listens, publishes its address in the store, connects
// to all ranks below it and accepts connections from all ranks above it. Each connection is
// authenticated with the run's token before any other data, so that no other process can take a
// rank's place.
#pragma once

#include "base/net/guarded_listener.h"
#include "comm/membership.h"

#include <string>
#include <vector>

namespace lockstep::internal::comm {

/// The channel of the control mesh; the others belong to the wire.
constexpr int kControlChannel = 0;

/// A peer, and this rank's authenticated connections to it, one per channel.
struct Peer {
  int pid = 0;
  std::string host;  ///< its host's name, for messages
  std::vector<AuthenticatedConnection> channels;
};

/// Connects all ranks of a group with `channels` connections each, and returns one Peer per rank;
/// this rank's own has no connections. A collective. Throws PeerLostError, TimeoutError that names
/// the missing ranks, or Error, and the exceptions of the limit's tick.
std::vector<Peer> connect_peers(const RunContext& run, const Membership& membership, int channels,
                                const WaitLimit& limit);

}  // namespace lockstep::internal::comm
