#include "launch/rendezvous/store_client.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/files.h"
#include "comm/work_state.h"
#include "launch/environment/run_identity.h"
#include "launch/rendezvous/store_server.h"

#include <fmt/format.h>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>

namespace lockstep::internal::launch {

namespace {

constexpr std::size_t kMaxIdle = 4;

/// Number of connections on which one request may be tried.
constexpr int kMaxAttempts = 3;

/// How long a rendezvous that has closed a connection has to accept another.
constexpr std::chrono::milliseconds kReconnectWithin{2000};

/// Whether a request may be sent again. Not lost_on_disconnect, which is about the connection it
/// was sent on. Repeating the others is harmless: the server keeps only the first value of a key
/// and the first report of a rank's end.
bool may_be_repeated(const StoreRequest& request) {
  return request.kind != StoreRequest::Kind::lost_on_disconnect;
}

/// Waits until the socket is readable or writable, or for a while; false at the deadline.
bool wait_for(const UniqueFd& socket, short event, const WaitLimit& limit) {
  pollfd watched{socket.get(), event, 0};
  const auto slice = std::min(limit.deadline.left(), WaitLimit::kTick);
  if (::poll(&watched, 1, static_cast<int>(slice.count())) > 0) return true;
  limit.check();
  return !limit.deadline.passed();
}

std::string describe(const StoreRequest& request) {
  if (!request.key.empty()) return fmt::format("'{}'", request.key);
  return fmt::format("the exit status of rank {}", request.rank);
}

}  // namespace

StoreClient::StoreClient(const Address& address, std::string token, const Deadline& deadline,
                         std::string run)
    : address_(address),
      token_(std::move(token)),
      run_(std::move(run)),
      default_timeout_(static_cast<std::int64_t>(1000 * deadline.seconds())) {
  AuthenticatedConnection first = connect(deadline);
  if (run_ == run_of_start(run_)) run_ = run_served_by(first, deadline);
  keep_connection(std::move(first));
}

void StoreClient::set(const std::string& key, const std::string& value) {
  const auto known = try_to_set(key, value);
  if (!known) return;
  if (*known == value)  // set by this very process, according to the value
    throw UsageError(fmt::format(
        "{} has already joined this run ({}): start each process only once. A process whose init() "
        "failed cannot join the same run again: start the whole run again",
        key, value));
  throw UsageError(fmt::format("two processes claim to be {}, one of them {}: start each only once",
                               key, *known));
}

std::string StoreClient::set_first(const std::string& key, const std::string& value) {
  return try_to_set(key, value).value_or(value);
}

std::optional<std::string> StoreClient::try_to_set(const std::string& key,
                                                   const std::string& value) {
  Answer answer = ask({StoreRequest::Kind::set, key, value, -1}, own_deadline());
  // The first attempt may have set it, although its answer was lost.
  const bool by_this = answer.repeated && answer.value == value;
  if (answer.status == StoreStatus::already_set && !by_this) return std::move(answer.value);
  if (answer.status == StoreStatus::full)
    throw Error(
        fmt::format("the rendezvous at {} is full: '{}' was not set", address_.text(), key));
  return std::nullopt;
}

bool StoreClient::claim(const std::string& key, const std::string& value) {
  const Answer answer = ask({StoreRequest::Kind::claim, key, value, -1}, own_deadline());
  if (answer.status == StoreStatus::ok) return !answer.value.empty();
  if (answer.status == StoreStatus::full)
    throw Error(
        fmt::format("the rendezvous at {} is full: '{}' was not set", address_.text(), key));
  throw UsageError(fmt::format("two processes claim to be {}, one of them {}: start each only once",
                               key, answer.value));
}

std::optional<std::string> StoreClient::look(const std::string& key) {
  Answer answer = ask({StoreRequest::Kind::look, key, {}, -1}, own_deadline());
  if (answer.status == StoreStatus::not_yet) return std::nullopt;
  return std::move(answer.value);
}

std::string StoreClient::get(const std::string& key, const WaitLimit& limit, int owner) {
  Answer answer = ask({StoreRequest::Kind::get, key, {}, owner}, limit);
  if (answer.status == StoreStatus::owner_ended)
    throw PeerLostError(
        owner, fmt::format("rank {} {} before it joined the run ('{}' was never set)", owner,
                           answer.value, key));
  return std::move(answer.value);
}

std::optional<std::string> StoreClient::ending_of(int rank, std::chrono::milliseconds timeout) {
  // Even an answer that the server already has takes a moment to arrive.
  constexpr std::chrono::milliseconds kRoundTrip{200};
  try {
    const Deadline deadline = Deadline::after(std::max(timeout, kRoundTrip));
    const auto kind = timeout.count() > 0 ? StoreRequest::Kind::ending : StoreRequest::Kind::ended;
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

void StoreClient::declare_lost_on_disconnect(int rank) {
  ask({StoreRequest::Kind::lost_on_disconnect, {}, {}, rank}, own_deadline());
}

StoreClient::Answer StoreClient::ask(const StoreRequest& request, const WaitLimit& limit) {
  LOCKSTEP_CHECK(request.key.size() <= kMaxKey && request.value.size() <= kMaxValue &&
                     request.rank <= kMaxRank,
                 "a key of {} bytes and a value of {} are too long for the store",
                 request.key.size(), request.value.size());
  if (!owner_.is_this_one()) comm::throw_in_child("its parent's connection to the rendezvous");
  bool sent = false;  // on a connection that was then lost: it may have been executed
  std::exception_ptr lost;
  for (int attempt = 1;; ++attempt) {
    bool connected = false;
    try {
      AuthenticatedConnection connection =
          take_connection(lost ? limit_for_reconnecting(limit) : limit);
      connected = true;
      const bool repeated = std::exchange(sent, true);
      // A failed connection is closed: its late answer could be taken for that of another request.
      std::string answer = exchange(connection, request, limit);
      keep_connection(std::move(connection));
      return {static_cast<StoreStatus>(answer[0]), answer.substr(1), repeated};
    } catch (const RendezvousLostError&) {
      if (attempt == kMaxAttempts || (sent && !may_be_repeated(request))) throw;
      lost = std::current_exception();
    } catch (const TimeoutError&) {
      if (lost && !connected) std::rethrow_exception(lost);  // the rendezvous is gone
      throw;
    }
  }
}

WaitLimit StoreClient::limit_for_reconnecting(const WaitLimit& limit) {
  Lock lock(mutex_);
  idle_.clear();  // they are probably lost too
  return {Deadline::after(std::min(limit.deadline.left(), kReconnectWithin)), limit.tick};
}

std::string StoreClient::exchange(AuthenticatedConnection& connection, const StoreRequest& request,
                                  const WaitLimit& limit) const {
  auto lost = [&](const std::string& why) {
    return RendezvousLostError(fmt::format("lost the rendezvous at {} while requesting {}: {}",
                                           address_.text(), describe(request), why));
  };
  const int fd = connection.socket.get();
  std::string unsent = make_frame(request.encode());
  for (;;) {
    if (!wait_for(connection.socket, unsent.empty() ? POLLIN : POLLOUT, limit))
      throw TimeoutError(fmt::format(
          "{} was not available within {:.1f} s at the rendezvous at {}: did all ranks start?",
          describe(request), limit.deadline.seconds(), address_.text()));
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

AuthenticatedConnection StoreClient::take_connection(const WaitLimit& limit) {
  {
    Lock lock(mutex_);
    if (!idle_.empty()) {
      AuthenticatedConnection connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  return connect(limit);
}

AuthenticatedConnection StoreClient::connect(const WaitLimit& limit) const {
  AuthenticatedConnection connection =
      connect_authenticated(address_, token_, kStorePurpose, limit);
  detect_dead_hosts(connection.socket);
  if (run_.empty()) return connection;
  const std::string theirs = run_served_by(connection, limit);
  if (theirs == run_ || run_of_start(theirs) == run_) return connection;
  if (run_of_start(theirs) == run_of_start(run_))
    throw RendezvousLostError(fmt::format(
        "the run at {} has been started again ({}), and this process belongs to an earlier start "
        "({}), which has ended",
        address_.text(), theirs, run_));
  throw OtherRunError(
      fmt::format("the rendezvous at {} belongs to run {}, but this process belongs to run {}, "
                  "which has ended: a "
                  "leftover process cannot join another run",
                  address_.text(), run_of_start(theirs), run_of_start(run_)));
}

std::string StoreClient::run_served_by(AuthenticatedConnection& connection,
                                       const WaitLimit& limit) const {
  return exchange(connection, {StoreRequest::Kind::look, kRunKey, {}, -1}, limit).substr(1);
}

void StoreClient::keep_connection(AuthenticatedConnection connection) {
  Lock lock(mutex_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(connection));
}

}  // namespace lockstep::internal::launch
