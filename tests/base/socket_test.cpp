#include "base/net/socket.h"

#include <lockstep/error.h>

#include "support/errors.h"

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace lockstep::internal {
namespace {

using std::chrono::milliseconds;
using testing::expect_error;

int option(const UniqueFd& socket, int level, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  ::getsockopt(socket.get(), level, name, &value, &length);
  return value;
}

TEST(Socket, HostNamesResolve) {
  const UniqueFd listener = listen_on({"localhost", 0});
  const UniqueFd socket =
      connect_to({"localhost", port_of(listener)}, Deadline::after(milliseconds(5000)));
  EXPECT_TRUE(socket);
  EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_NODELAY), 1);
}

TEST(Socket, AnUnknownHostIsNamed) {
  expect_error<UsageError>(
      [] {
        connect_to({"no..such.host", 1}, Deadline::after(milliseconds(100)));
      },
      {"'no..such.host'", "no host of that name"});
}

TEST(Socket, ListeningOnAnotherHostsAddressFails) {
  expect_error<Error>([] { listen_on({"192.0.2.1", 0}); }, {"192.0.2.1:0", "of this host"});
}

TEST(Socket, NoListenerIsATimeoutThatNamesTheAddress) {
  const std::uint16_t port = port_of(listen_on({"127.0.0.1", 0}));
  const Address address{"127.0.0.1", port};
  expect_error<TimeoutError>([&] { connect_to(address, Deadline::after(milliseconds(100))); },
                             {address.text(), "Connection refused"});
}

TEST(Socket, FullBacklogDoesNotExceedTheDeadline) {
  // The listener accepts nothing, so that connecting fails once the backlog is full.
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&loopback), sizeof loopback), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  const Address address{"127.0.0.1", port_of(listener)};
  std::vector<UniqueFd> connected;
  auto fill = [&] {
    for (int i = 0; i < 100; ++i)
      connected.push_back(connect_to(address, Deadline::after(milliseconds(300))));
  };
  expect_error<TimeoutError>(fill, {address.text(), "timed out"});
}

TEST(Socket, DeadHostDetectionIsConfigured) {
  const UniqueFd listener = listen_on({"127.0.0.1", 0});
  const UniqueFd socket =
      connect_to({"127.0.0.1", port_of(listener)}, Deadline::after(milliseconds(5000)));
  detect_dead_hosts(socket);
  EXPECT_EQ(option(socket, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPIDLE), 1);
  EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPINTVL), 1);
  EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPCNT), 3);
  EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 4000);
}

TEST(Socket, KnowsItsOwnAddress) {
  EXPECT_EQ(address_towards({"127.0.0.1", 0}), "127.0.0.1");
  EXPECT_EQ(address_of_interface("lo"), "127.0.0.1");
  EXPECT_EQ(address_of_interface("10.1.2.3"), "10.1.2.3");
  expect_error<UsageError>([] { address_of_interface("nix0"); }, {"'nix0'", "lo (127.0.0.1)"});
}

}  // namespace
}  // namespace lockstep::internal
