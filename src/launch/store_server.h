// StoreServer: the rendezvous. It lives in the launcher, so that any rank may die, and serves only
// loopback. One connection a rank; a connection that talks nonsense is dropped without disturbing
// the others.
#pragma once

#include "base/unique_fd.h"
#include "launch/frame.h"
#include "launch/socket.h"

#include <list>
#include <map>
#include <optional>
#include <string>
#include <thread>

namespace lockstep::launch {

class StoreServer {
 public:
  /// Listens at once, so that address() can be told to workers; answers from start() on. In between
  /// the process may fork. Throws UsageError for an address that is not loopback.
  explicit StoreServer(const Address& address = {"127.0.0.1", 0});
  ~StoreServer();

  Address address() const;
  void start();

 private:
  struct Connection {
    UniqueFd socket;
    std::string received;
    std::optional<std::string> waiting_for;  ///< the key of a get that cannot be answered yet
  };

  void serve();
  void accept_one();
  bool receive(Connection& connection);
  void handle(Connection& connection, const StoreRequest& request);
  void answer(Connection& connection, StoreStatus status, const std::string& value);

  const Address asked_;
  UniqueFd listener_;
  UniqueFd stop_;
  std::thread thread_;

  // Touched only by the serving thread.
  std::list<Connection> connections_;
  std::map<std::string, std::string> values_;
};

}  // namespace lockstep::launch
