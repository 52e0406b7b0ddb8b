#include "base/net/guarded_listener.h"

#include <lockstep/error.h>

#include "base/descriptors.h"
#include "base/files.h"
#include "base/sleep.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace lockstep::internal {

namespace {

const Address& require_token(const Address& address, const std::string& token,
                             const std::string& purpose) {
  if (token.empty() && !address.is_loopback())
    throw UsageError(
        fmt::format("the {} at {} would accept any process: without a token only loopback "
                    "(127.0.0.1) is allowed. Set LOCKSTEP_TOKEN or --token-file to one secret on "
                    "every host",
                    purpose, address.host));
  return address;
}

/// Sends a handshake's few bytes. They fit into the buffer of a new connection; a connection where
/// they do not is not a valid peer.
bool send_all(const UniqueFd& socket, const std::string& bytes) {
  return bytes.empty() || ::send(socket.get(), bytes.data(), bytes.size(),
                                 MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size());
}

enum class Received { some, nothing_yet, end };

Received receive_some(const UniqueFd& socket, std::string& received) {
  char block[4096];
  const ssize_t got = ::recv(socket.get(), block, sizeof block, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Received::nothing_yet;
  if (got <= 0) return Received::end;
  received.append(block, static_cast<std::size_t>(got));
  return Received::some;
}

bool watch(const UniqueFd& events, const UniqueFd& socket) {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(events.get(), EPOLL_CTL_ADD, socket.get(), &event) == 0;
}

bool is_readable(const UniqueFd& socket) {
  pollfd watched{socket.get(), POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

UniqueFd duplicate(const UniqueFd& file) {
  return UniqueFd(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
}

}  // namespace

GuardedListener::GuardedListener(const Address& address, std::string token, std::string purpose)
    : asked_(require_token(address, token, purpose)),
      token_(std::move(token)),
      purpose_(std::move(purpose)),
      listener_(listen_on(address)),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      spare_(duplicate(listener_)) {
  if (!events_ || !spare_) throw_if_descriptor_shortage("listen on " + address.text());
  if (!events_ || !watch(events_, listener_))
    throw Error(fmt::format("cannot watch connections: {}", last_system_error()));
}

Address GuardedListener::address() const {
  return {asked_.host, port_of(listener_)};
}

std::vector<AuthenticatedConnection> GuardedListener::service() {
  std::vector<AuthenticatedConnection> authenticated;
  // Pending handshakes first: a connection accepted below may replace the oldest.
  pending_.remove_if([&](Pending& pending) { return !advance(pending, authenticated); });
  accept_new();
  return authenticated;
}

void GuardedListener::accept_new() {
  for (std::size_t count = 0; count < kMaxPending / 2; ++count) {
    if (UniqueFd socket = accept_on(listener_)) {
      add(std::move(socket));
      continue;
    }
    const int error = errno;
    // Without a free descriptor the kernel does not even look for a connection.
    if (error == EAGAIN || (is_socket_shortage(error) && !is_readable(listener_))) return;
    if (is_socket_shortage(error) && !make_room(error)) return;
  }
}

/// For a connection that could not be accepted: drops the oldest pending handshake. If there is
/// none, all descriptors are in use elsewhere, and the connection is refused. Returns false if it
/// cannot even be refused.
bool GuardedListener::make_room(int error) {
  if (!pending_.empty()) {
    pending_.pop_front();
    return true;
  }
  shortage_ = error;
  spare_.reset();
  UniqueFd socket = accept_on(listener_);
  const bool accepted = static_cast<bool>(socket);
  if (accepted)
    send_all(socket, Handshake::no_room());
  else  // the listener stays readable, and its owner would call again at once
    sleep_for(std::chrono::milliseconds(10));
  socket.reset();
  spare_ = duplicate(listener_);
  return accepted;
}

void GuardedListener::add(UniqueFd socket) {
  send_at_once(socket);
  Pending pending{std::move(socket),
                  Handshake(Handshake::Side::server, token_, purpose_),
                  {},
                  Deadline::after(kHandshakeTimeout)};
  if (!send_all(pending.socket, pending.handshake.to_send()) || !watch(events_, pending.socket))
    return;
  if (pending_.size() >= kMaxPending) pending_.pop_front();
  pending_.push_back(std::move(pending));
}

bool GuardedListener::advance(Pending& pending,
                              std::vector<AuthenticatedConnection>& authenticated) {
  const Received got = receive_some(pending.socket, pending.received);
  if (got == Received::nothing_yet) return !pending.deadline.passed();
  if (got == Received::end) return false;
  pending.handshake.feed(pending.received);
  if (!send_all(pending.socket, pending.handshake.to_send())) return false;
  if (pending.handshake.state() == Handshake::State::in_progress) return !pending.deadline.passed();
  if (pending.handshake.state() == Handshake::State::authenticated) {
    ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, pending.socket.get(), nullptr);
    authenticated.push_back({std::move(pending.socket), std::move(pending.received)});
  }
  return false;
}

namespace {

/// Waits until the socket is readable; false at the deadline.
bool wait_readable(const UniqueFd& socket, const WaitLimit& limit) {
  pollfd readable{socket.get(), POLLIN, 0};
  for (;;) {
    const auto slice = std::min(limit.deadline.left(), WaitLimit::kTick);
    if (::poll(&readable, 1, static_cast<int>(slice.count())) > 0) return true;
    if (limit.deadline.passed()) return false;
    limit.check();
  }
}

/// What was found instead of a peer, for the message.
struct Met {
  std::string what;
  bool listener = false;  ///< a process answered there
};

/// Runs the handshake to its end. On failure, `met` describes the other end.
Handshake::State prove(AuthenticatedConnection& connection, Handshake& handshake,
                       const WaitLimit& limit, Met& met) {
  bool silent = true;
  while (handshake.state() == Handshake::State::in_progress) {
    if (!wait_readable(connection.socket, limit)) {
      // The last of many attempts is cut short by the deadline: earlier attempts are more
      // informative.
      if (!met.listener)
        met.what = silent ? "it accepts connections but sends nothing"
                          : "it stopped in the middle of the handshake";
      break;
    }
    const Received got = receive_some(connection.socket, connection.received);
    if (got == Received::nothing_yet) continue;
    silent = false;
    if (got == Received::some) handshake.feed(connection.received);
    if (got == Received::end || !send_all(connection.socket, handshake.to_send())) {
      met = {"it closed the connection before the tokens were compared", true};
      break;
    }
  }
  if (handshake.state() == Handshake::State::wrong_protocol)
    met = {"the program at that port uses another protocol, so it may not be Lockstep", true};
  return handshake.state();
}

/// One attempt; empty if another attempt makes sense.
std::optional<AuthenticatedConnection> try_to_prove(const Address& address,
                                                    const std::string& token,
                                                    const std::string& purpose,
                                                    const WaitLimit& limit, Met& met) {
  std::string why;
  AuthenticatedConnection connection{try_to_connect(address, limit, why), {}};
  if (!connection.socket) {
    met = {why, false};
    return std::nullopt;
  }
  set_blocking(connection.socket, false);
  Handshake handshake(Handshake::Side::client, token, purpose);
  switch (prove(connection, handshake, limit, met)) {
    case Handshake::State::authenticated:
      return connection;
    case Handshake::State::refused:
      throw Error(
          fmt::format("{} refused this process's token: set LOCKSTEP_TOKEN or --token-file to the "
                      "run's token on every host. A leftover process of another run is "
                      "refused too: end it",
                      address.text()));
    case Handshake::State::wrong_token:
      throw Error(fmt::format("{} has another token than this run: it may belong to another run",
                              address.text()));
    case Handshake::State::no_room:
      throw Error(
          fmt::format("the {} at {} has no file descriptor left for this connection: raise the "
                      "limit on open files of the process there (ulimit -n)",
                      purpose, address.text()));
    case Handshake::State::in_progress:
    case Handshake::State::wrong_protocol:
      break;
  }
  return std::nullopt;
}

}  // namespace

AuthenticatedConnection connect_authenticated(const Address& address, const std::string& token,
                                              const std::string& purpose, const WaitLimit& limit) {
  Met met;
  do {
    if (auto connection = try_to_prove(address, token, purpose, limit, met))
      return std::move(*connection);
    limit.check();
    sleep_for(std::min(limit.deadline.left(), kRetryAfter));
  } while (!limit.deadline.passed());
  throw TimeoutError(
      fmt::format("no {} at {} within {:.1f} s: {}. Is the launcher, or rank 0, "
                  "running there, and can this host reach it?",
                  purpose, address.text(), limit.deadline.seconds(), met.what));
}

}  // namespace lockstep::internal
