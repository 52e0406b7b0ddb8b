// NetworkHosts: simulates several hosts on one machine, with links of a given speed to one switch.
//
//   host 0: eth0 ── port0 ┐
//   host 1: eth0 ── port1 ┼ switch, where the launcher is
//   host 2: eth0 ── port2 ┘
//
// Hosts and switch are network namespaces without names, held only by descriptors of this process
// and its children. They disappear with the process, however it ends, even by SIGKILL.
//
// The hosts share cores, memory and files; only the network is separate. Requires root, and
// iproute2's ip and tc.
#pragma once

#include "base/unique_fd.h"
#include "launch/hosts/network_link.h"

#include <string>
#include <vector>

namespace lockstep::internal::launch {

class NetworkHosts {
 public:
  static constexpr int kMost = 200;

  /// Makes the hosts. From now on this thread, and all that it starts, is at the switch. Throws
  /// UsageError with the reason if this machine or user cannot make them; Error if a tool fails.
  NetworkHosts(int count, const NetworkLink& link);

  /// Moves the calling thread back to its original namespace; a host ends with the last process on
  /// it. REQUIRES: called by the thread that made the hosts.
  ~NetworkHosts();
  NetworkHosts(const NetworkHosts&) = delete;
  NetworkHosts& operator=(const NetworkHosts&) = delete;

  int count() const { return static_cast<int>(hosts_.size()); }

  /// The switch's address, which all hosts can reach.
  std::string address() const;

  /// Moves the calling thread, and all that it starts from now on, to a host.
  void enter(int host) const;

 private:
  void make_switch();
  void add_host(int host, const NetworkLink& link);

  UniqueFd before_;  ///< the original namespace of the thread
  UniqueFd switch_;
  std::vector<UniqueFd> hosts_;
};

}  // namespace lockstep::internal::launch
