// The HTTP server with real sockets: slow, silent and many clients.
#include "watch/http_server.h"

#include "base/files.h"
#include "base/thread.h"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace lockstep::internal::watch {
namespace {

constexpr const char* kFields = " HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr std::size_t kLarge = 8 << 20;  // more than sockets buffer

HttpResponse answer(const HttpRequest& request) {
  if (request.path == "/large") return {200, "text/plain", std::string(kLarge, 'x')};
  if (request.path == "/error") throw std::runtime_error("damaged");
  if (request.path == "/missing") return {404, "text/plain", ""};
  return {200, "text/plain", "answer to " + request.path};
}

class WatchServer : public ::testing::Test {
 protected:
  ~WatchServer() override { done_ = true; }

  UniqueFd connect() {
    return connect_to({"127.0.0.1", server_.port()}, Deadline::after(std::chrono::seconds(60)));
  }
  static void put(const UniqueFd& socket, const std::string& text) {
    ASSERT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  /// Everything until the server closes the connection.
  static std::string receive(const UniqueFd& socket) {
    std::string text;
    while (read_more(socket.get(), text, 1 << 16) > 0) {
    }
    return text;
  }
  std::string ask(const std::string& request) {
    const UniqueFd socket = connect();
    put(socket, request);
    return receive(socket);
  }

  std::atomic<bool> done_ = false;
  HttpServer server_{0, answer};
  Thread serving_{"serving", [this] {
                    while (!done_) server_.serve(std::chrono::milliseconds(10));
                  }};
};

TEST_F(WatchServer, Answers) {
  const std::string get = ask(std::string("GET /one") + kFields);
  EXPECT_TRUE(get.starts_with("HTTP/1.1 200 OK\r\n")) << get;
  EXPECT_TRUE(get.ends_with("\r\n\r\nanswer to /one")) << get;
  for (const char* field :
       {"Content-Length: 14\r\n", "Content-Security-Policy: default-src 'none'", "nosniff\r\n",
        "Cross-Origin-Resource-Policy: same-origin\r\n", "Cache-Control: no-store\r\n"})
    EXPECT_NE(get.find(field), std::string::npos) << field;
  EXPECT_EQ(get.find("Access-Control"), std::string::npos);
  const std::string head = ask(std::string("HEAD /one") + kFields);
  EXPECT_EQ(head, get.substr(0, get.size() - 14));
}

TEST_F(WatchServer, SaysWhyThereIsNoAnswer) {
  EXPECT_TRUE(ask(std::string("GET /missing") + kFields).starts_with("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_TRUE(
      ask(std::string("GET /error") + kFields).ends_with("Internal Server Error: damaged\n"));
  EXPECT_NE(ask(std::string("POST /one") + kFields).find("Allow: GET, HEAD\r\n"),
            std::string::npos);
  // More than the server reads: the client still receives the refusal.
  EXPECT_TRUE(ask(std::string(3 * kLongestHead, 'x')).starts_with("HTTP/1.1 431 "));
}

TEST_F(WatchServer, ARequestMayComeInPieces) {
  const UniqueFd socket = connect();
  for (const char byte : std::string("GET /one") + kFields) put(socket, std::string(1, byte));
  EXPECT_TRUE(receive(socket).ends_with("answer to /one"));
}

TEST_F(WatchServer, SlowClientsHoldUpNoOthers) {
  const UniqueFd silent = connect(), half = connect(), slow = connect();
  put(half, "GET /ha");
  put(slow, std::string("GET /large") + kFields);
  EXPECT_TRUE(ask(std::string("GET /one") + kFields).ends_with("answer to /one"));
  put(half, std::string("lf") + kFields);
  EXPECT_TRUE(receive(half).ends_with("answer to /half"));
  const std::string large = receive(slow);
  EXPECT_EQ(large.size() - large.find("\r\n\r\n") - 4, kLarge);
}

TEST_F(WatchServer, TheOldestOfTooManyConnectionsIsClosed) {
  const UniqueFd oldest = connect();
  std::vector<UniqueFd> silent;
  for (std::size_t i = 0; i < HttpServer::kMostConnections; ++i) silent.push_back(connect());
  EXPECT_EQ(receive(oldest), "");
  EXPECT_TRUE(ask(std::string("GET /one") + kFields).ends_with("answer to /one"));
}

TEST_F(WatchServer, ListensOnOneLoopbackAddressOnly) {
  std::vector<std::string> others{"127.0.0.2"};
  if (const std::string host = address_of_this_host(); host != "127.0.0.1") others.push_back(host);
  for (const std::string& other : others) {
    std::string why;
    const Deadline deadline = Deadline::after(std::chrono::seconds(60));
    EXPECT_FALSE(try_to_connect({other, server_.port()}, deadline, why)) << other;
    EXPECT_EQ(why, "Connection refused");
  }
}

}  // namespace
}  // namespace lockstep::internal::watch
