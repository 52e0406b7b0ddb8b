// StoreServer: the rendezvous. It lives in the launcher, so that any rank may die. It serves only
// who proves the run's token; a connection that talks nonsense, or does not read its answers, is
// dropped without disturbing the others.
#pragma once

#include "base/bell.h"
#include "base/guarded_listener.h"
#include "base/thread_annotations.h"
#include "launch/store_session.h"

#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace lockstep::launch {

/// Connections prove themselves with this purpose (base/handshake.h).
constexpr const char* kStorePurpose = "rendezvous";

class StoreServer {
 public:
  static constexpr std::size_t kMaxConnections = 1 << 16;

  /// Listens at once, so that address() can be told to workers; answers from start() on. In between
  /// the process may fork. Throws UsageError for an address beyond loopback without a token.
  /// `run` is the identity of the run that it serves; empty: one is drawn.
  explicit StoreServer(const Address& address = {"127.0.0.1", 0}, std::string token = "",
                       std::string run = "");
  ~StoreServer();

  Address address() const { return listener_.address(); }
  const std::string& run() const { return run_; }
  void start();

  /// Tells all who wait for this rank of the run how its process ended: "was ended by signal 9
  /// (Killed)". Any thread may call it.
  void note_ending(int rank, const std::string& how);

 private:
  struct Connection {
    Connection(UniqueFd socket, StoreTable& table) : socket(std::move(socket)), session(table) {}
    UniqueFd socket;
    StoreSession session;
    bool closed = false;
    bool wants_to_write = false;  ///< as the event queue knows it
  };

  void serve();
  bool take_notes();
  void admit(ProvedConnection proved);
  void receive(Connection& connection);
  void flush(Connection& connection);

  const std::string run_;
  GuardedListener listener_;
  UniqueFd events_;  ///< an epoll descriptor over the listener, the bell and all connections
  Bell bell_;        ///< rung when there are notes, or it is time to stop
  std::thread thread_;

  Mutex mutex_;
  std::vector<std::pair<int, std::string>> notes_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;

  // Touched only by the serving thread.
  StoreTable table_;
  std::map<int, Connection> connections_;  ///< by descriptor
};

}  // namespace lockstep::launch
