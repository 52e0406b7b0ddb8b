#include "base/net/socket.h"

#include <lockstep/error.h>

#include "base/descriptors.h"
#include "base/files.h"
#include "base/sleep.h"
#include "base/text.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <netdb.h>
#include <vector>

namespace lockstep::internal {

namespace {

in_addr resolve(const std::string& name) {
  in_addr found{};
  const std::string host = name == "localhost" ? "127.0.0.1" : name;
  if (::inet_pton(AF_INET, host.c_str(), &found) == 1) return found;
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (failure != 0 || list == nullptr)
    throw UsageError(fmt::format(
        "'{}' is not an IPv4 address, and no host of that name is known here ({})", name,
        failure == EAI_SYSTEM ? last_system_error() : std::string(::gai_strerror(failure))));
  found = reinterpret_cast<const sockaddr_in*>(list->ai_addr)->sin_addr;
  ::freeaddrinfo(list);
  return found;
}

sockaddr_in to_sockaddr(const Address& address) {
  sockaddr_in native{};
  native.sin_family = AF_INET;
  native.sin_port = htons(address.port);
  native.sin_addr = resolve(address.host);
  return native;
}

std::string in_dots(const sockaddr* native) {
  char text[INET_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(native)->sin_addr, text, sizeof text);
  return text;
}

void set_option(const UniqueFd& socket, int level, int name, int value) {
  ::setsockopt(socket.get(), level, name, &value, sizeof value);
}

/// Waits for a pending connect; returns its errno.
int finish_connecting(const UniqueFd& socket, const WaitLimit& limit) {
  pollfd writable{socket.get(), POLLOUT, 0};
  for (;;) {
    const auto slice = std::min(limit.deadline.left(), WaitLimit::kTick);
    if (::poll(&writable, 1, static_cast<int>(slice.count())) > 0) break;
    if (limit.deadline.passed()) return ETIMEDOUT;
    limit.check();
  }
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

UniqueFd connect_once(const Address& address, const sockaddr_in& native, const WaitLimit& limit,
                      std::string& why) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) {
    throw_if_descriptor_shortage("connect to " + address.text());
    why = last_system_error();
    return {};
  }
  int error = 0;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&native), sizeof native) != 0)
    error = errno == EINPROGRESS ? finish_connecting(socket, limit) : errno;
  if (error != 0) {
    why = std::strerror(error);
    return {};
  }
  if (port_of(socket) ==
      ntohs(native.sin_port)) {  // on one host, TCP may connect a socket to itself
    why = std::strerror(ECONNREFUSED);
    return {};
  }
  set_blocking(socket, true);
  send_at_once(socket);
  return socket;
}

}  // namespace

std::string Address::text() const {
  return fmt::format("{}:{}", host, port);
}

bool Address::is_loopback() const {
  return ntohl(to_sockaddr(*this).sin_addr.s_addr) >> 24 == 127;
}

Address Address::parse(const std::string& text, const std::string& what) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    throw UsageError(fmt::format("{} is '{}': write an address as host:port", what, text));
  const auto port = parse_integer(text.substr(colon + 1), what + "'s port", 1, 65535);
  return {text.substr(0, colon), static_cast<std::uint16_t>(port)};
}

UniqueFd listen_on(const Address& address) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw_if_descriptor_shortage("listen on " + address.text());
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  const sockaddr_in native = to_sockaddr(address);
  if (!socket ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&native), sizeof native) != 0 ||
      ::listen(socket.get(), 1024) != 0) {
    const bool not_ours = errno == EADDRNOTAVAIL;
    throw Error(fmt::format(
        "cannot listen on {}: {}. {}", address.text(), last_system_error(),
        not_ours ? "Choose an address of this host" : "Choose another port, or end what uses it"));
  }
  return socket;
}

std::uint16_t port_of(const UniqueFd& socket) {
  sockaddr_in native{};
  socklen_t length = sizeof native;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&native), &length);
  return ntohs(native.sin_port);
}

UniqueFd accept_on(const UniqueFd& listener) {
  return UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

UniqueFd connect_to(const Address& address, const Deadline& deadline) {
  const sockaddr_in native = to_sockaddr(address);
  std::string why;
  do {
    if (UniqueFd socket = connect_once(address, native, deadline, why)) return socket;
    sleep_for(std::min(deadline.left(), kRetryAfter));
  } while (!deadline.passed());
  throw TimeoutError(
      fmt::format("no answer from {} within {:.1f} s: {}. Is the other end "
                  "running there, and can this host reach it?",
                  address.text(), deadline.seconds(), why));
}

UniqueFd try_to_connect(const Address& address, const WaitLimit& limit, std::string& why) {
  return connect_once(address, to_sockaddr(address), limit, why);
}

void send_at_once(const UniqueFd& socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

void set_blocking(const UniqueFd& socket, bool blocking) {
  const int flags = ::fcntl(socket.get(), F_GETFL);
  ::fcntl(socket.get(), F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

void detect_dead_hosts(const UniqueFd& socket) {
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 4000);
}

std::string address_towards(const Address& address) {
  sockaddr_in native = to_sockaddr(address);
  if (native.sin_port == 0)
    native.sin_port = htons(9);  // any port: connecting a UDP socket sends nothing
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in mine{};
  socklen_t length = sizeof mine;
  if (!socket ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&native), sizeof native) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&mine), &length) != 0)
    throw Error(fmt::format("no network interface of this host has a route to {}: {}", address.host,
                            last_system_error()));
  return in_dots(reinterpret_cast<const sockaddr*>(&mine));
}

namespace {

/// An interface's name and its IPv4 address in dots.
std::vector<std::pair<std::string, std::string>> interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0)
    throw Error(fmt::format("cannot list the network interfaces: {}", last_system_error()));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(first, &::freeifaddrs);
  std::vector<std::pair<std::string, std::string>> found;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next)
    if (each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET)
      found.emplace_back(each->ifa_name, in_dots(each->ifa_addr));
  return found;
}

}  // namespace

std::string address_of_interface(const std::string& text) {
  in_addr unused{};
  if (::inet_pton(AF_INET, text.c_str(), &unused) == 1) return text;
  std::vector<std::string> known;
  for (const auto& [name, address] : interfaces()) {
    if (text == name) return address;
    known.push_back(fmt::format("{} ({})", name, address));
  }
  throw UsageError(
      fmt::format("there is no network interface '{}' with an IPv4 address: this host has {}", text,
                  known.empty() ? "none" : enumerate(known)));
}

std::string address_of_this_host() {
  for (const auto& [name, address] : interfaces())
    if (!Address{address, 0}.is_loopback()) return address;
  return "127.0.0.1";
}

}  // namespace lockstep::internal
