#include "watch/http_server.h"

#include "base/descriptors.h"
#include "base/sleep.h"

#include <fmt/format.h>

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::internal::watch {

namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

/// Pages run only their own scripts from this server, and no other site may read or frame them.
constexpr std::string_view kSafety =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self' "
    "'unsafe-inline'; img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action "
    "'none'; frame-ancestors 'none'\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Content-Type-Options: nosniff\r\n";

std::string to_bytes(const HttpResponse& response, bool with_body) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "Connection: close\r\n{}{}\r\n{}",
      response.status, reason_of(response.status), response.type, response.body.size(),
      response.status == 405 ? "Allow: GET, HEAD\r\n" : "", kSafety,
      with_body ? response.body : "");
}

HttpResponse refusal(int status, std::string_view why = "") {
  return {status, "text/plain; charset=utf-8",
          fmt::format("{} {}{}{}\n", status, reason_of(status), why.empty() ? "" : ": ", why)};
}

bool would_block() {
  return errno == EAGAIN || errno == EINTR;
}

}  // namespace

HttpServer::HttpServer(std::uint16_t port, Handler handler)
    : handler_(std::move(handler)), listener_(listen_on({"127.0.0.1", port})) {}

void HttpServer::serve(std::chrono::milliseconds time) {
  std::vector<pollfd> watched{{listener_.get(), POLLIN, 0}};
  for (const Connection& connection : connections_)
    watched.push_back({connection.socket.get(),
                       static_cast<short>(connection.phase == Phase::sending ? POLLOUT : POLLIN),
                       0});
  ::poll(watched.data(), watched.size(), static_cast<int>(time.count()));
  std::size_t i = 0;
  connections_.remove_if([&](Connection& connection) {
    const bool ready = watched[++i].revents != 0;
    return (ready && !advance(connection)) || connection.deadline.passed();
  });
  if (watched[0].revents != 0) accept_new();
}

void HttpServer::accept_new() {
  for (std::size_t count = 0; count < kMostConnections; ++count) {
    UniqueFd socket = accept_on(listener_);
    if (!socket) {
      if (!is_socket_shortage(errno)) return;
      if (connections_.empty()) return sleep_for(std::chrono::milliseconds(10));
      connections_.pop_front();  // its descriptor is needed
      continue;
    }
    if (connections_.size() >= kMostConnections) connections_.pop_front();
    connections_.emplace_back().socket = std::move(socket);
  }
}

bool HttpServer::advance(Connection& connection) {
  if (connection.phase == Phase::receiving && !receive(connection)) return false;
  if (connection.phase == Phase::sending && !send(connection)) return false;
  return connection.phase != Phase::closing || drain(connection);
}

bool HttpServer::receive(Connection& connection) {
  char block[kLongestHead];
  const ssize_t got = ::recv(connection.socket.get(), block, sizeof block, MSG_DONTWAIT);
  if (got <= 0) return got < 0 && would_block();
  connection.bytes.append(block, static_cast<std::size_t>(got));
  answer(connection);
  return true;
}

void HttpServer::answer(Connection& connection) {
  const ParsedRequest parsed = parse_request(connection.bytes);
  if (parsed.status == 0) return;
  HttpResponse response;
  if (parsed.status != 200) {
    response = refusal(parsed.status);
  } else {
    try {
      response = handler_(parsed.request);
      if (response.status != 200 && response.body.empty()) response = refusal(response.status);
    } catch (const std::exception& problem) {
      response = refusal(500, problem.what());
    }
  }
  connection.bytes = to_bytes(response, !parsed.request.head);
  connection.phase = Phase::sending;
  connection.deadline = Deadline::after(kTimeout);
}

bool HttpServer::send(Connection& connection) {
  const std::string_view rest = std::string_view(connection.bytes).substr(connection.sent);
  const ssize_t put =
      ::send(connection.socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (put < 0) return would_block();
  connection.sent += static_cast<std::size_t>(put);
  connection.deadline = Deadline::after(kTimeout);
  if (connection.sent < connection.bytes.size()) return true;
  // Closing a socket with unread bytes would discard what the client has not received yet.
  ::shutdown(connection.socket.get(), SHUT_WR);
  connection.phase = Phase::closing;
  return true;
}

bool HttpServer::drain(Connection& connection) {
  char block[kLongestHead];
  const ssize_t got = ::recv(connection.socket.get(), block, sizeof block, MSG_DONTWAIT);
  return got > 0 || (got < 0 && would_block());
}

}  // namespace lockstep::internal::watch
