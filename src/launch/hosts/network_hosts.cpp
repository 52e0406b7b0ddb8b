#include "launch/hosts/network_hosts.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/files.h"
#include "launch/process/tool.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <sched.h>

namespace lockstep::internal::launch {

namespace {

constexpr const char* kNetwork = "10.83.0";  // used inside the namespaces only

/// The namespace of this thread.
UniqueFd current_namespace() {
  UniqueFd space = open_file("/proc/thread-self/ns/net", O_RDONLY);
  if (!space)
    throw UsageError(fmt::format(
        "this machine does not support network namespaces, which emulated hosts need: {}",
        last_system_error()));
  return space;
}

/// Makes a new namespace and moves this thread there.
UniqueFd new_namespace() {
  if (::unshare(CLONE_NEWNET) != 0)
    throw UsageError(fmt::format(
        "this machine does not permit network namespaces, which emulated hosts need: {}. In a "
        "container, give it CAP_SYS_ADMIN and CAP_NET_ADMIN",
        last_system_error()));
  return current_namespace();
}

void move_to(const UniqueFd& space) {
  if (::setns(space.get(), CLONE_NEWNET) != 0)
    throw Error(fmt::format("cannot change to another network namespace: {}", last_system_error()));
}

/// The burst size: a millisecond's worth of data, or a few packets. With a larger one, short arrays
/// would not be limited at all.
std::uint64_t burst_bytes(const NetworkLink& link) {
  return std::max<std::uint64_t>(16 * 1024, link.bits_per_second / 8 / 1000);
}

/// Limits the outgoing traffic of a device in this thread's namespace.
void slow_down(const std::string& device, const NetworkLink& link) {
  run_tool({"tc", "qdisc", "add", "dev", device, "root", "handle", "1:", "tbf", "rate",
            fmt::format("{}bit", link.bits_per_second), "burst", std::to_string(burst_bytes(link)),
            "latency", "50ms"});
  if (link.latency.count() == 0) return;
  try {
    run_tool({"tc", "qdisc", "add", "dev", device, "parent", "1:1", "handle", "10:", "netem",
              "limit", "100000", "delay", fmt::format("{}us", link.latency.count())});
  } catch (const Error& error) {
    throw UsageError(fmt::format(
        "this kernel cannot delay packets (sch_netem): omit the latency. {}", error.what()));
  }
}

}  // namespace

NetworkHosts::NetworkHosts(int count, const NetworkLink& link) {
  if (count < 1 || count > kMost)
    throw UsageError(fmt::format("the number of hosts must be from 1 to {}, not {}", kMost, count));
  if (::geteuid() != 0)
    throw UsageError(
        "only root may create hosts (network namespaces) on this machine: run the command as root");
  require_tool("ip", "iproute2");
  require_tool("tc", "iproute2");
  before_ = current_namespace();
  try {
    make_switch();
    for (int host = 0; host < count; ++host) add_host(host, link);
  } catch (...) {
    ::setns(before_.get(), CLONE_NEWNET);
    throw;
  }
}

NetworkHosts::~NetworkHosts() {
  ::setns(before_.get(), CLONE_NEWNET);
}

std::string NetworkHosts::address() const {
  return fmt::format("{}.254", kNetwork);
}

void NetworkHosts::enter(int host) const {
  LOCKSTEP_CHECK(host >= 0 && host < count(), "host {} of {}", host, count());
  move_to(hosts_[static_cast<std::size_t>(host)]);
}

void NetworkHosts::make_switch() {
  switch_ = new_namespace();
  run_tool({"ip", "link", "set", "lo", "up"});
  run_tool({"ip", "link", "add", "switch", "type", "bridge"});
  run_tool({"ip", "address", "add", address() + "/24", "dev", "switch"});
  run_tool({"ip", "link", "set", "switch", "up"});
}

/// Returns with the thread at the switch, where it began.
void NetworkHosts::add_host(int host, const NetworkLink& link) {
  const std::string port = fmt::format("port{}", host);
  const UniqueFd& space = hosts_.emplace_back(new_namespace());
  move_to(switch_);
  run_tool({"ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns",
            fmt::format("/proc/{}/fd/{}", ::getpid(), space.get())});
  run_tool({"ip", "link", "set", port, "master", "switch", "up"});
  slow_down(port, link);
  move_to(space);
  run_tool({"ip", "link", "set", "lo", "up"});
  run_tool({"ip", "address", "add", fmt::format("{}.{}/24", kNetwork, host + 1), "dev", "eth0"});
  run_tool({"ip", "link", "set", "eth0", "up"});
  slow_down("eth0", link);
  move_to(switch_);
}

}  // namespace lockstep::internal::launch
