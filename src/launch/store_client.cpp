#include "launch/store_client.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/files.h"
#include "launch/store_server.h"

#include <fmt/format.h>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace lockstep::launch {

namespace {

constexpr std::size_t kMaxIdle = 4;

/// Waits until the socket can be read, or written; false at the deadline.
bool wait_for(const UniqueFd& socket, short event, const Deadline& deadline) {
  pollfd watched{socket.get(), event, 0};
  constexpr std::int64_t kHour = 3'600'000;
  const auto left = static_cast<int>(std::min<std::int64_t>(deadline.left().count(), kHour));
  return ::poll(&watched, 1, left) > 0 || !deadline.passed();
}

std::string describe(const StoreRequest& request) {
  if (!request.key.empty()) return fmt::format("'{}'", request.key);
  return fmt::format("the end of rank {}", request.rank);
}

}  // namespace

StoreClient::StoreClient(const Address& address, std::string token, const Deadline& deadline)
    : address_(address),
      token_(std::move(token)),
      patience_(static_cast<std::int64_t>(1000 * deadline.seconds())) {
  keep_connection(take_connection(deadline));
}

void StoreClient::set(const std::string& key, const std::string& value) {
  if (const auto known = try_to_set(key, value))
    throw UsageError(fmt::format(
        "two processes claim to be {}, one of them {}: start each only once", key, *known));
}

std::string StoreClient::set_first(const std::string& key, const std::string& value) {
  return try_to_set(key, value).value_or(value);
}

std::optional<std::string> StoreClient::try_to_set(const std::string& key,
                                                   const std::string& value) {
  Answer answer = ask({StoreRequest::Kind::set, key, value, -1}, own_deadline());
  if (answer.status == StoreStatus::already_set) return std::move(answer.value);
  if (answer.status == StoreStatus::full)
    throw Error(
        fmt::format("the rendezvous at {} keeps no more: '{}' was not set", address_.text(), key));
  return std::nullopt;
}

std::optional<std::string> StoreClient::look(const std::string& key) {
  Answer answer = ask({StoreRequest::Kind::look, key, {}, -1}, own_deadline());
  if (answer.status == StoreStatus::not_yet) return std::nullopt;
  return std::move(answer.value);
}

std::string StoreClient::get(const std::string& key, const Deadline& deadline, int owner) {
  Answer answer = ask({StoreRequest::Kind::get, key, {}, owner}, deadline);
  if (answer.status == StoreStatus::owner_ended)
    throw PeerLostError(owner, fmt::format("rank {} {} before it joined the run ('{}' never came)",
                                           owner, answer.value, key));
  return std::move(answer.value);
}

std::optional<std::string> StoreClient::ending_of(int rank, std::chrono::milliseconds patience) {
  // What the server already knows takes a moment to come, too.
  constexpr std::chrono::milliseconds kRoundTrip{200};
  try {
    const Deadline deadline = Deadline::after(std::max(patience, kRoundTrip));
    const auto kind = patience.count() > 0 ? StoreRequest::Kind::ending : StoreRequest::Kind::ended;
    Answer answer = ask({kind, {}, {}, rank}, deadline);
    if (answer.status == StoreStatus::not_yet) return std::nullopt;
    return std::move(answer.value);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void StoreClient::note_ending(int rank, const std::string& how) {
  ask({StoreRequest::Kind::report, {}, how, rank}, own_deadline());
}

void StoreClient::vouch_for(int rank) {
  ask({StoreRequest::Kind::vouch, {}, {}, rank}, own_deadline());
}

StoreClient::Answer StoreClient::ask(const StoreRequest& request, const Deadline& deadline) {
  LOCKSTEP_CHECK(request.key.size() <= kMaxKey && request.value.size() <= kMaxValue &&
                     request.rank <= kMaxRank,
                 "a key of {} bytes and a value of {} are too long for the store",
                 request.key.size(), request.value.size());
  ProvedConnection connection = take_connection(deadline);
  // One that fails here is closed: its answer could still come, and be taken for another's.
  std::string answer = exchange(connection, request, deadline);
  keep_connection(std::move(connection));
  return {static_cast<StoreStatus>(answer[0]), answer.substr(1)};
}

std::string StoreClient::exchange(ProvedConnection& connection, const StoreRequest& request,
                                  const Deadline& deadline) const {
  auto lost = [&](const std::string& why) {
    return RendezvousLostError(fmt::format("lost the rendezvous at {} while asking for {}: {}",
                                           address_.text(), describe(request), why));
  };
  const int fd = connection.socket.get();
  std::string unsent = make_frame(request.encode());
  for (;;) {
    if (!wait_for(connection.socket, unsent.empty() ? POLLIN : POLLOUT, deadline))
      throw TimeoutError(fmt::format(
          "{} did not come within {:.1f} s from the rendezvous at {}: did all ranks start?",
          describe(request), deadline.seconds(), address_.text()));
    if (!unsent.empty()) {
      const ssize_t sent = ::send(fd, unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) unsent.erase(0, static_cast<std::size_t>(sent));
      if (sent < 0 && errno != EINTR && errno != EAGAIN) throw lost(last_system_error());
      continue;
    }
    char block[4096];
    const ssize_t got = ::recv(fd, block, sizeof block, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) throw lost(last_system_error());
    if (got == 0) throw lost("it closed the connection");
    connection.received.append(block, static_cast<std::size_t>(got));
    if (auto answer = take_frame(connection.received)) {
      if (answer->empty()) throw lost("it sent an empty answer");
      return std::move(*answer);
    }
  }
}

ProvedConnection StoreClient::take_connection(const Deadline& deadline) {
  {
    Lock lock(mutex_);
    if (!idle_.empty()) {
      ProvedConnection connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  ProvedConnection connection = connect_proved(address_, token_, kStorePurpose, deadline);
  detect_dead_hosts(connection.socket);
  return connection;
}

void StoreClient::keep_connection(ProvedConnection connection) {
  Lock lock(mutex_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(connection));
}

}  // namespace lockstep::launch
