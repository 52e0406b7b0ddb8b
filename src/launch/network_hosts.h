// NetworkHosts: several hosts on one machine, with links of a known speed to one switch.
//
//   host 0: eth0 ── port0 ┐
//   host 1: eth0 ── port1 ┼ switch, where the launcher is
//   host 2: eth0 ── port2 ┘
//
// Hosts and switch are network namespaces without names: only descriptors of this process and its
// children hold them. So nothing is left behind, however the process ends, even by SIGKILL.
//
// They share cores, memory and files: only the network is apart. Needs root, and iproute2's ip and
// tc.
#pragma once

#include "base/unique_fd.h"
#include "launch/network_link.h"

#include <string>
#include <vector>

namespace lockstep::launch {

class NetworkHosts {
 public:
  static constexpr int kMost = 200;

  /// Makes them. From now on this thread, and whatever it starts, is at the switch. Throws
  /// UsageError if this machine or user cannot have them, with the reason; Error if a tool fails.
  NetworkHosts(int count, const NetworkLink& link);

  /// The calling thread is back where it was; the hosts end with the last process that is on them.
  /// REQUIRES: called by the thread that made them.
  ~NetworkHosts();
  NetworkHosts(const NetworkHosts&) = delete;
  NetworkHosts& operator=(const NetworkHosts&) = delete;

  int count() const { return static_cast<int>(hosts_.size()); }

  /// The switch's address, which all hosts reach.
  std::string address() const;

  /// Moves the calling thread, and whatever it starts from now on, to a host.
  void enter(int host) const;

 private:
  void make_switch();
  void add_host(int host, const NetworkLink& link);

  UniqueFd before_;  ///< the namespace that the thread came from
  UniqueFd switch_;
  std::vector<UniqueFd> hosts_;
};

}  // namespace lockstep::launch
