// Network: how long ranks take to exchange and add bytes, in a few numbers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::predict {

/// All in seconds unless it says otherwise. Links are full duplex: a rank sends and receives at
/// once.
struct Network {
  std::string name = {};
  double latency = 0;     ///< α: from the moment that both sides are ready to the first byte
  double per_byte = 0;    ///< β: a byte on a rank's link
  double per_added = 0;   ///< γ: combining a received byte with one's own
  double agreement = 0;   ///< until ranks know that all call the same collective, but for:
  double per_peer = 0;    ///< a rank tells each of the others, and hears it, one by one
  double meeting = 0;     ///< α₁: until the ranks of a host have met
  double per_copied = 0;  ///< β₁: a byte read from or written to a neighbour's memory
  /// How many cores a message keeps at work, where it is copies that they make, as on one host:
  /// ranks that share cores then wait for each other's. 1 where its ends copy in turn, 2 where they
  /// do at once; 0 where a wire carries it.
  int message_cores = 0;
  double cache = 0;  ///< bytes that the caches of a host hold
  double far = 0;    ///< how much longer what is not in them takes: 1 for twice as long

  bool by_cores() const { return message_cores > 0; }

  bool operator==(const Network&) const = default;
};

/// What each number is called on the command line and in files: "alpha", "beta" …
using NetworkField = std::pair<const char*, double Network::*>;
std::span<const NetworkField> network_fields();

/// "1gbit", "10gbit", "25gbit", "100gbit", "ib-hdr", "loopback".
std::vector<std::string> network_names();

/// One of network_names(), or one of your own: "alpha=20us,beta=0.8ns", with gamma, agreement,
/// peer, meeting and copy as well; or a bandwidth instead of beta: "alpha=20us,bandwidth=10gbit".
/// Throws UsageError that says what there is, also for values that are not positive.
Network parse_network(std::string_view text);

}  // namespace lockstep::predict
