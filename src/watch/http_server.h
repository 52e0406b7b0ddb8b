// HttpServer: answers HTTP requests of this computer. It listens on 127.0.0.1 only, in the thread
// that calls serve(). Slow, silent and malformed clients hold up no others: sockets do not block,
// every connection has a time limit, and above kMostConnections the oldest is closed.
#pragma once

#include "base/deadline.h"
#include "base/net/socket.h"
#include "base/unique_fd.h"
#include "watch/http_request.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <string>

namespace lockstep::internal::watch {

struct HttpResponse {
  int status = 200;
  std::string type;  ///< the value of Content-Type
  std::string body;
};

class HttpServer {
 public:
  static constexpr std::size_t kMostConnections = 64;
  /// To send a request; to take some more of an answer; to close after the answer.
  static constexpr std::chrono::seconds kTimeout{10};

  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  /// Port 0 lets the kernel choose. Throws Error if the port is in use. What the handler throws is
  /// answered with status 500.
  HttpServer(std::uint16_t port, Handler handler);

  std::uint16_t port() const { return port_of(listener_); }

  /// Handles events for at most `time`.
  void serve(std::chrono::milliseconds time);

 private:
  enum class Phase { receiving, sending, closing };
  struct Connection {
    UniqueFd socket;
    Phase phase = Phase::receiving;
    std::string bytes;     ///< received, then to be sent
    std::size_t sent = 0;  ///< of `bytes`
    Deadline deadline = Deadline::after(kTimeout);
  };

  void accept_new();
  /// These return whether the connection stays open.
  bool advance(Connection& connection);
  bool receive(Connection& connection);
  bool send(Connection& connection);
  bool drain(Connection& connection);
  void answer(Connection& connection);

  const Handler handler_;
  UniqueFd listener_;
  std::list<Connection> connections_;  ///< the oldest first
};

}  // namespace lockstep::internal::watch
