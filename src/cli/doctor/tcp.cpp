#include <lockstep/error.h>

#include "base/deadline.h"
#include "base/files.h"
#include "base/net/socket.h"
#include "base/thread.h"
#include "cli/doctor/measure.h"
#include "observe/statistics.h"

#include <fmt/format.h>

#include <poll.h>
#include <sys/socket.h>

#include <span>
#include <vector>

namespace lockstep::internal::cli {

namespace {

constexpr int kPings = 500;
constexpr std::size_t kPing = 4;
constexpr std::size_t kBlock = 1 << 20;
constexpr int kBlocks = 128;
constexpr std::chrono::seconds kTimeout(10);

/// Sets a timeout on every wait of this socket.
void prepare(const UniqueFd& socket) {
  const timeval limit{kTimeout.count(), 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

[[noreturn]] void fail() {
  throw Error(fmt::format("loopback TCP does not work: {}", last_system_error()));
}

void send_all(const UniqueFd& socket, std::span<const char> data) {
  while (!data.empty()) {
    const ssize_t sent = ::send(socket.get(), data.data(), data.size(), MSG_NOSIGNAL);
    if (sent <= 0) fail();
    data = data.subspan(static_cast<std::size_t>(sent));
  }
}

void receive_all(const UniqueFd& socket, std::span<char> data) {
  while (!data.empty()) {
    const ssize_t got = ::recv(socket.get(), data.data(), data.size(), 0);
    if (got <= 0) fail();
    data = data.subspan(static_cast<std::size_t>(got));
  }
}

/// The other end: answers pings, receives all blocks, and confirms them.
void serve(const UniqueFd& listener) {
  pollfd waiting{listener.get(), POLLIN, 0};
  ::poll(&waiting, 1, static_cast<int>(std::chrono::milliseconds(kTimeout).count()));
  const UniqueFd socket = accept_on(listener);
  if (!socket) return;
  set_blocking(socket, true);
  send_at_once(socket);
  prepare(socket);
  std::vector<char> block(kBlock);
  const std::span<char> ping(block.data(), kPing);
  try {
    for (int i = 0; i < kPings; ++i) {
      receive_all(socket, ping);
      send_all(socket, ping);
    }
    for (int i = 0; i < kBlocks; ++i) receive_all(socket, block);
    send_all(socket, ping);
  } catch (const Error&) {  // the caller finds the connection closed
  }
}

double median_ping(const UniqueFd& socket) {
  std::vector<char> ping(kPing);
  std::vector<double> seconds;
  for (int i = 0; i < kPings; ++i) {
    const double start = now_seconds();
    send_all(socket, ping);
    receive_all(socket, ping);
    seconds.push_back(now_seconds() - start);
  }
  return observe::percentile(seconds, 0.5);
}

}  // namespace

TcpSpeed measure_loopback() {
  const UniqueFd listener = listen_on({"127.0.0.1", 0});
  const Thread server("tcp test", [&] { serve(listener); });
  const UniqueFd socket = connect_to({"127.0.0.1", port_of(listener)}, Deadline::after(kTimeout));
  prepare(socket);
  TcpSpeed speed;
  speed.latency_us = 1e6 * median_ping(socket) / 2;
  std::vector<char> block(kBlock);
  const double start = now_seconds();
  for (int i = 0; i < kBlocks; ++i) send_all(socket, block);
  receive_all(socket, std::span<char>(block.data(), kPing));
  speed.bandwidth_gbs = static_cast<double>(kBlock) * kBlocks / (now_seconds() - start) / 1e9;
  return speed;
}

}  // namespace lockstep::internal::cli
