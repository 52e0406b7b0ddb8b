#include "launch/store_server.h"

#include <lockstep/error.h>

#include "base/check.h"

#include <fmt/format.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <vector>

namespace lockstep::launch {

namespace {

Address require_loopback(const Address& address) {
  if (!address.is_loopback())
    throw UsageError(fmt::format(
        "the rendezvous at {} would be open to strangers: only loopback (127.0.0.1) is served",
        address.host));
  return address;
}

}  // namespace

StoreServer::StoreServer(const Address& address)
    : asked_(require_loopback(address)),
      listener_(listen_on(address)),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  LOCKSTEP_CHECK(stop_, "eventfd failed");
}

StoreServer::~StoreServer() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] ssize_t put = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

Address StoreServer::address() const {
  return {asked_.host, port_of(listener_)};
}

void StoreServer::start() {
  thread_ = std::thread([this] { serve(); });
}

void StoreServer::serve() {
  for (;;) {
    std::vector<pollfd> watched{{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Connection& connection : connections_)
      watched.push_back({connection.socket.get(), POLLIN, 0});
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    if (watched[0].revents != 0) return;
    std::size_t index = 2;
    for (auto it = connections_.begin(); it != connections_.end(); ++index) {
      const bool keep = watched[index].revents == 0 || receive(*it);
      it = keep ? std::next(it) : connections_.erase(it);
    }
    if (watched[1].revents != 0) accept_one();
  }
}

void StoreServer::accept_one() {
  UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket) connections_.push_back({std::move(socket), {}, {}});
  // Out of descriptors: the listener stays readable, and polling it again at once would spin.
  else if (errno == EMFILE || errno == ENFILE)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

/// Returns whether to keep the connection.
bool StoreServer::receive(Connection& connection) {
  char block[4096];
  const ssize_t got = ::recv(connection.socket.get(), block, sizeof block, 0);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (got <= 0) return false;
  connection.received.append(block, static_cast<std::size_t>(got));
  try {
    while (auto payload = take_frame(connection.received))
      handle(connection, StoreRequest::decode(*payload));
  } catch (const Error&) {
    return false;
  }
  return true;
}

void StoreServer::handle(Connection& connection, const StoreRequest& request) {
  const auto known = values_.find(request.key);
  if (request.kind == StoreRequest::Kind::get) {
    if (known != values_.end()) return answer(connection, StoreStatus::ok, known->second);
    connection.waiting_for = request.key;
    return;
  }
  if (known != values_.end()) return answer(connection, StoreStatus::already_set, known->second);
  values_[request.key] = request.value;
  answer(connection, StoreStatus::ok, "");
  for (Connection& other : connections_) {
    if (other.waiting_for != request.key) continue;
    other.waiting_for.reset();
    answer(other, StoreStatus::ok, request.value);
  }
}

void StoreServer::answer(Connection& connection, StoreStatus status, const std::string& value) {
  const std::string frame = make_frame(static_cast<char>(status) + value);
  // An answer always fits the socket's empty buffer; a peer that stopped reading loses it and is on
  // its own.
  ::send(connection.socket.get(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace lockstep::launch
