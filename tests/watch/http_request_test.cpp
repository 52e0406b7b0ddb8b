// Parsing HTTP requests, most of them malformed.
#include "watch/http_request.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep::internal::watch {
namespace {

constexpr const char* kHost = "Host: 127.0.0.1:8765\r\n";

int status_of(const std::string& request) {
  return parse_request(request).status;
}

int status_with(const std::string& fields) {
  return status_of("GET / HTTP/1.1\r\n" + fields + "\r\n");
}

TEST(HttpRequest, IsParsed) {
  const ParsedRequest get =
      parse_request("GET /run/12/ HTTP/1.1\r\nHost: localhost:1\r\nAccept: */*\r\n\r\nand more");
  EXPECT_EQ(get.status, 200);
  EXPECT_FALSE(get.request.head);
  EXPECT_EQ(get.request.path, "/run/12/");
  const ParsedRequest head = parse_request("HEAD / HTTP/1.0\r\nhOST:\t[::1]\r\n\r\n");
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(head.request.head);
}

TEST(HttpRequest, EveryPrefixNeedsMoreBytes) {
  const std::string whole = std::string("GET / HTTP/1.1\r\n") + kHost + "\r\n";
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(status_of(whole.substr(0, size)), 0) << size;
  EXPECT_EQ(status_of(whole), 200);
}

TEST(HttpRequest, MalformedLinesAreRefused) {
  for (const std::string line :
       {"", "GET", "GET /", " GET / HTTP/1.1", "GET  / HTTP/1.1", "GET / HTTP/1.1 ",
        "GET / http/1.1", "GET /a b HTTP/1.1", "GET run HTTP/1.1", "GET http://127.0.0.1/ HTTP/1.1",
        "GET * HTTP/1.1", "GET /\t HTTP/1.1", "GET /\x80 HTTP/1.1", "G(T / HTTP/1.1",
        "GET /\n HTTP/1.1", "GET / HTTP/1.1\nHost: localhost"})
    EXPECT_EQ(status_of(line + "\r\n" + kHost + "\r\n"), 400) << line;
  EXPECT_EQ(status_of(std::string("GET /\0 HTTP/1.1\r\n\r\n", 20)), 400);
  EXPECT_EQ(status_of(std::string("GET / HTTP/2.0\r\n") + kHost + "\r\n"), 505);
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get"})
    EXPECT_EQ(status_of(method + " / HTTP/1.1\r\n" + kHost + "\r\n"), 405) << method;
}

TEST(HttpRequest, MalformedFieldsAreRefused) {
  for (const std::string field : {"no colon", ": no name", "Name : space", " folded: line",
                                  "Na\x01me: control", "Name: \x01", "Name: a\rb", "Name: a\nb"})
    EXPECT_EQ(status_with(kHost + field + "\r\n"), 400) << field;
}

TEST(HttpRequest, MayHaveNoBody) {
  EXPECT_EQ(status_with(std::string(kHost) + "Content-Length: 0\r\n"), 200);
  EXPECT_EQ(status_with(std::string(kHost) + "Content-Length: 3\r\n"), 413);
  EXPECT_EQ(status_with(std::string(kHost) + "content-length: -1\r\n"), 413);
  EXPECT_EQ(status_with(std::string(kHost) + "Transfer-Encoding: chunked\r\n"), 413);
}

TEST(HttpRequest, HostMustNameTheLoopbackInterface) {
  for (const std::string host :
       {"127.0.0.1", "127.0.0.1:8765", "localhost", "LocalHost:80", "[::1]:1", "[::1]"})
    EXPECT_EQ(status_with("Host: " + host + "\r\n"), 200) << host;
  for (const std::string host :
       {"evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil.example",
        "localhost:", "localhost:123456", "localhost:80x", "127.0.0.2", "::1", "user@localhost",
        "localhost, evil.example"})
    EXPECT_EQ(status_with("Host: " + host + "\r\n"), 421) << host;
  EXPECT_EQ(status_with("Host:\r\n"), 421);
  EXPECT_EQ(status_with(""), 400);
  EXPECT_EQ(status_with(std::string(kHost) + kHost), 400);
}

TEST(HttpRequest, HeadsHaveALimit) {
  const std::string start = std::string("GET / HTTP/1.1\r\n") + kHost + "Long: ";
  const std::size_t room = kLongestHead - start.size() - 4;
  EXPECT_EQ(status_of(start + std::string(room, 'x') + "\r\n\r\n"), 200);
  EXPECT_EQ(status_of(start + std::string(room + 1, 'x') + "\r\n\r\n"), 431);
  EXPECT_EQ(status_of(std::string(kLongestHead, 'x')), 431);
  EXPECT_EQ(status_of(std::string(kLongestHead - 1, 'x')), 0);
}

}  // namespace
}  // namespace lockstep::internal::watch
