#include "launch/socket.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/text.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <thread>

namespace lockstep::launch {

namespace {

sockaddr_in to_sockaddr(const Address& address) {
  sockaddr_in native{};
  native.sin_family = AF_INET;
  native.sin_port = htons(address.port);
  const std::string host = address.host == "localhost" ? "127.0.0.1" : address.host;
  if (::inet_pton(AF_INET, host.c_str(), &native.sin_addr) != 1)
    throw UsageError(fmt::format("'{}' is not an IPv4 address", address.host));
  return native;
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
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in native = to_sockaddr(address);
  if (!socket ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&native), sizeof native) != 0 ||
      ::listen(socket.get(), 128) != 0)
    throw Error(fmt::format("cannot listen on {}: {}. Choose another port, or end what uses it",
                            address.text(), last_system_error()));
  return socket;
}

std::uint16_t port_of(const UniqueFd& socket) {
  sockaddr_in native{};
  socklen_t length = sizeof native;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&native), &length);
  return ntohs(native.sin_port);
}

UniqueFd connect_to(const Address& address, const Deadline& deadline) {
  const sockaddr_in native = to_sockaddr(address);
  std::string why;
  do {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket &&
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&native), sizeof native) == 0 &&
        port_of(socket) != address.port) {  // on one host, TCP may connect a socket to itself
      const int on = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return socket;
    }
    why = last_system_error();
    std::this_thread::sleep_for(std::min(deadline.left(), std::chrono::milliseconds(50)));
  } while (!deadline.passed());
  throw TimeoutError(fmt::format(
      "no rendezvous at {} within {:.1f} s: {}. Is the launcher, or rank 0, running there?",
      address.text(), deadline.seconds(), why));
}

}  // namespace lockstep::launch
