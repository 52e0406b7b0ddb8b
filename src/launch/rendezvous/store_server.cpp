#include "launch/rendezvous/store_server.h"

#include "base/check.h"
#include "base/descriptors.h"
#include "launch/environment/run_identity.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace lockstep::internal::launch {

namespace {

bool watch(const UniqueFd& events, int operation, int fd, bool for_writing) {
  epoll_event event{};
  event.events = for_writing ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.fd = fd;
  return ::epoll_ctl(events.get(), operation, fd, &event) == 0;
}

}  // namespace

StoreServer::StoreServer(const Address& address, std::string token, std::string run)
    : run_(run.empty() ? make_run_identity() : std::move(run)),
      listener_(address, std::move(token), kStorePurpose),
      events_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!events_) throw_if_descriptor_shortage("serve the rendezvous");
  LOCKSTEP_CHECK(events_, "cannot create an event queue");
  LOCKSTEP_CHECK(watch(events_, EPOLL_CTL_ADD, wake_event_.fd(), false) &&
                     watch(events_, EPOLL_CTL_ADD, listener_.fd(), false),
                 "the listener cannot be watched");
  table_.publish(kRunKey, run_);
}

StoreServer::~StoreServer() {
  Lock lock(mutex_);
  stop_ = true;
  wake_event_.wake();
}

void StoreServer::start() {
  thread_ = Thread("rendezvous", [this] { serve(); });
}

void StoreServer::note_ending(int rank, const std::string& how) {
  {
    Lock lock(mutex_);
    notes_.emplace_back(rank, how);
  }
  wake_event_.wake();
}

void StoreServer::serve() {
  constexpr int kMaxEvents = 256;
  epoll_event happened[kMaxEvents];
  while (take_notes()) {
    const int count = ::epoll_wait(events_.get(), happened, kMaxEvents,
                                   static_cast<int>(GuardedListener::kTick.count()));
    for (int i = 0; i < count; ++i) {
      const auto found = connections_.find(happened[i].data.fd);
      if (found != connections_.end()) receive(found->second);
    }
    for (auto& [fd, connection] : connections_) flush(connection);
    std::erase_if(connections_, [](const auto& each) { return each.second.closed; });
    // Last, so that a new connection does not get the events of an old one with its number.
    for (AuthenticatedConnection& authenticated : listener_.service())
      admit(std::move(authenticated));
  }
}

/// Takes over the notes of other threads; false if it is time to stop.
bool StoreServer::take_notes() {
  wake_event_.reset();
  std::vector<std::pair<int, std::string>> notes;
  {
    Lock lock(mutex_);
    if (stop_) return false;
    notes.swap(notes_);
  }
  for (auto& [rank, how] : notes) table_.note_ending(rank, std::move(how));
  for (auto& [fd, connection] : connections_)
    if (!notes.empty()) flush(connection);
  return true;
}

void StoreServer::admit(AuthenticatedConnection authenticated) {
  const int fd = authenticated.socket.get();
  if (connections_.size() >= kMaxConnections || !watch(events_, EPOLL_CTL_ADD, fd, false)) return;
  detect_dead_hosts(authenticated.socket);
  Connection& connection =
      connections_.try_emplace(fd, std::move(authenticated.socket), table_).first->second;
  connection.session.feed(authenticated.received);
  flush(connection);
}

void StoreServer::receive(Connection& connection) {
  char block[16 * 1024];
  const ssize_t got = ::recv(connection.socket.get(), block, sizeof block, 0);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0)
    connection.closed = true;
  else
    connection.session.feed({block, static_cast<std::size_t>(got)});
}

/// Sends as much as the socket takes; the rest waits until it is writable.
void StoreServer::flush(Connection& connection) {
  std::string& outgoing = connection.session.outgoing();
  if (connection.session.broken()) connection.closed = true;
  if (connection.closed) return;
  if (!outgoing.empty()) {
    const ssize_t sent = ::send(connection.socket.get(), outgoing.data(), outgoing.size(),
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) outgoing.erase(0, static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) connection.closed = true;
  }
  const bool rest = !outgoing.empty();
  if (rest != connection.wants_to_write)
    watch(events_, EPOLL_CTL_MOD, connection.socket.get(), rest);
  connection.wants_to_write = rest;
}

}  // namespace lockstep::internal::launch
