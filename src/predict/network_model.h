// NetworkModel: the time to exchange and add bytes, as a few numbers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::internal::predict {

/// All numbers are in seconds unless stated otherwise. Links are full duplex: a rank sends and
/// receives at the same time.
struct NetworkModel {
  std::string name = {};
  double latency = 0;     ///< α: from the time that both sides are ready to the first byte
  double per_byte = 0;    ///< β: one byte on a rank's link
  double per_added = 0;   ///< γ: adding one received byte
  double agreement = 0;   ///< until ranks know that all call the same collective, without per_peer
  double per_peer = 0;    ///< of an agreement, for each peer: exchange of one short message
  double meeting = 0;     ///< α₁: a barrier of the ranks on a host
  double per_copied = 0;  ///< β₁: one byte read from or written to another rank's memory
  /// Number of cores that a message keeps busy if cores copy it, as on one host: ranks then wait
  /// for each other's copies. 1 if its two ends copy in turn, 2 if they copy at the same time, 0 if
  /// a wire carries it.
  int message_cores = 0;
  double cache = 0;  ///< bytes that the caches of a host hold
  double far = 0;    ///< additional time of a byte outside the caches: 1 for twice as long

  bool by_cores() const { return message_cores > 0; }

  bool operator==(const NetworkModel&) const = default;
};

/// The names of the numbers on the command line and in files: "alpha", "beta" …
using NetworkField = std::pair<const char*, double NetworkModel::*>;
std::span<const NetworkField> network_fields();

/// "1gbit", "10gbit", "25gbit", "100gbit", "ib-hdr", "loopback".
std::vector<std::string> network_names();

/// Parses one of network_names(), or a custom network: "alpha=20us,beta=0.8ns", optionally with
/// gamma, agreement, peer, meeting and copy; or a bandwidth instead of beta:
/// "alpha=20us,bandwidth=10gbit". Throws UsageError with the valid forms, also for values that are
/// not positive.
NetworkModel parse_network(std::string_view text);

}  // namespace lockstep::internal::predict
