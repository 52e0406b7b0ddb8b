// StoreServer: the rendezvous. It runs in the launcher, so that any rank may die. It serves only
// connections that prove the run's token; a connection that sends invalid requests or does not read
// its answers is dropped without affecting the others.
#pragma once

#include "base/net/guarded_listener.h"
#include "base/net/wake_event.h"
#include "base/thread.h"
#include "base/thread_annotations.h"
#include "launch/rendezvous/store_session.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::internal::launch {

/// The purpose in the handshake of its connections (base/net/handshake.h).
constexpr const char* kStorePurpose = "rendezvous";

class StoreServer {
 public:
  static constexpr std::size_t kMaxConnections = 1 << 16;

  /// Listens at once, so that address() can be passed to workers; answers after start(). The
  /// process may fork in between. Throws UsageError for an address beyond loopback without a token.
  /// `run` is the identity of the run; if empty, a new one is drawn.
  explicit StoreServer(const Address& address = {"127.0.0.1", 0}, std::string token = "",
                       std::string run = "");
  ~StoreServer();

  Address address() const { return listener_.address(); }
  const std::string& run() const { return run_; }
  void start();

  /// Tells all connections that wait for this rank of the run how its process ended: "was ended by
  /// signal 9 (Killed)". Thread safety: any thread.
  void note_ending(int rank, const std::string& how);

 private:
  struct Connection {
    Connection(UniqueFd socket, StoreTable& table) : socket(std::move(socket)), session(table) {}
    UniqueFd socket;
    StoreSession session;
    bool closed = false;
    bool wants_to_write = false;  ///< as registered with epoll
  };

  void serve();
  bool take_notes();
  void admit(AuthenticatedConnection authenticated);
  void receive(Connection& connection);
  void flush(Connection& connection);

  const std::string run_;
  GuardedListener listener_;
  UniqueFd events_;  ///< an epoll descriptor over the listener, the wake event and all connections
  WakeEvent wake_event_;  ///< signalled when there are notes, or when the server is to stop

  Mutex mutex_;
  std::vector<std::pair<int, std::string>> notes_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;

  // Used by the serving thread only.
  StoreTable table_;
  std::map<int, Connection> connections_;  ///< by descriptor

  Thread thread_;
};

}  // namespace lockstep::internal::launch
