// The connections between all ranks of a group: how they are made. Every rank listens, tells the
// others where through the store, connects to all ranks below it and accepts all above it. Each
// connection proves the run's token before anything else is said on it, so that no stranger can
// take a rank's place.
#pragma once

#include "base/guarded_listener.h"
#include "comm/membership.h"

#include <string>
#include <vector>

namespace lockstep::comm {

/// The channel that the control mesh takes; the others are the wire's.
constexpr int kControlChannel = 0;

/// A peer, and this rank's connections to it: one a channel, all proved.
struct Peer {
  int pid = 0;
  std::string host;  ///< its host's name, for messages
  std::vector<ProvedConnection> channels;
};

/// Connects all ranks of a group with `channels` connections each, and returns a Peer a rank; this
/// rank's own has none. A collective. Throws PeerLostError, TimeoutError that names who did not
/// come, or Error, and what the limit's tick throws.
std::vector<Peer> connect_peers(const RunContext& run, const Membership& membership, int channels,
                                const WaitLimit& limit);

}  // namespace lockstep::comm
