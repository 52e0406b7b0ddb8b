#include "base/net/handshake.h"

#include <gtest/gtest.h>

namespace lockstep::internal {
namespace {

using State = Handshake::State;

const std::string kGood(1, 1);  // the result byte

Handshake server(const std::string& token, const std::string& purpose = "rendezvous") {
  return Handshake(Handshake::Side::server, token, purpose);
}

Handshake client(const std::string& token, const std::string& purpose = "rendezvous") {
  return Handshake(Handshake::Side::client, token, purpose);
}

/// The bytes that both ends sent, in order.
struct Said {
  std::string by_server;
  std::string by_client;
};

Said converse(Handshake& server, Handshake& client) {
  Said said;
  std::string to_server;
  std::string to_client;
  for (int round = 0; round < 4; ++round) {
    const std::string from_server = server.to_send();
    said.by_server += from_server;
    to_client += from_server;
    client.feed(to_client);
    const std::string from_client = client.to_send();
    said.by_client += from_client;
    to_server += from_client;
    server.feed(to_server);
  }
  return said;
}

TEST(Handshake, BothSidesProveTheSameToken) {
  for (const std::string token : {"", "secret"}) {
    Handshake a = server(token);
    Handshake b = client(token);
    converse(a, b);
    EXPECT_EQ(a.state(), State::authenticated);
    EXPECT_EQ(b.state(), State::authenticated);
  }
}

TEST(Handshake, WorksForAnyFragmentation) {
  Handshake a = server("secret");
  Handshake b = client("secret");
  std::string to_a;
  std::string to_b;
  auto drip = [](const std::string& bytes, std::string& buffer, Handshake& to) {
    for (char byte : bytes) {
      buffer.push_back(byte);
      to.feed(buffer);
    }
  };
  for (int round = 0; round < 3; ++round) {
    drip(a.to_send(), to_b, b);
    drip(b.to_send(), to_a, a);
  }
  EXPECT_EQ(a.state(), State::authenticated);
  EXPECT_EQ(b.state(), State::authenticated);
}

TEST(Handshake, KeepsBytesAfterTheHandshake) {
  Handshake a = server("secret");
  Handshake b = client("secret");
  std::string to_b = a.to_send();
  b.feed(to_b);
  std::string to_a = b.to_send() + "first words";
  a.feed(to_a);
  EXPECT_EQ(to_a, "first words");
  to_b = a.to_send() + "and the answer";
  b.feed(to_b);
  EXPECT_EQ(to_b, "and the answer");
  a.feed(to_a);
  EXPECT_EQ(to_a, "first words");
}

TEST(Handshake, WrongTokenIsRejectedAndReported) {
  for (const std::string wrong : {"", "secreT", "secret "}) {
    Handshake a = server("secret");
    Handshake b = client(wrong);
    converse(a, b);
    EXPECT_EQ(a.state(), State::wrong_token);
    EXPECT_EQ(b.state(), State::refused);
  }
}

TEST(Handshake, ServerWithoutTheTokenIsDetected) {
  Handshake b = client("secret");
  std::string to_b = server("other").to_send();
  b.feed(to_b);
  to_b = kGood + std::string(32, 'x');
  b.feed(to_b);
  EXPECT_EQ(b.state(), State::wrong_token);
}

TEST(Handshake, ClientWithoutTheTokenGetsNoProof) {
  Handshake a = server("secret");
  Handshake b = client("other");
  const Said said = converse(a, b);
  EXPECT_EQ(said.by_server.size(), 8u + 32u + 1u);
}

TEST(Handshake, AnotherPurposeIsRejected) {
  Handshake a = server("secret", "rendezvous");
  Handshake b = client("secret", "control world");
  converse(a, b);
  EXPECT_EQ(a.state(), State::wrong_token);
  EXPECT_EQ(b.state(), State::refused);
}

TEST(Handshake, ReplayedHandshakeIsRejected) {
  Handshake a = server("secret");
  Handshake b = client("secret");
  Said said = converse(a, b);
  Handshake next = server("secret");
  next.feed(said.by_client);
  EXPECT_EQ(next.state(), State::wrong_token);
  Handshake other = client("secret");
  other.feed(said.by_server);
  EXPECT_EQ(other.state(), State::wrong_token);
}

TEST(Handshake, ReflectedProofIsRejected) {
  // An attacker asks one server for its nonce and relays it to a second server, or to the same one.
  Handshake a = server("secret");
  std::string words = a.to_send();
  words += words.substr(8) + words.substr(8);
  a.feed(words);
  EXPECT_EQ(a.state(), State::wrong_token);
  // A client's proof, sent back to it as if it were a server's.
  Handshake b = client("secret");
  std::string to_b = server("secret").to_send();
  b.feed(to_b);
  std::string echo = kGood + b.to_send().substr(8 + 32);
  b.feed(echo);
  EXPECT_EQ(b.state(), State::wrong_token);
}

TEST(Handshake, AnotherProtocolIsDetectedAtItsFirstWrongByte) {
  Handshake a = server("secret");
  std::string request = "GET / HTTP/1.1\r\n";
  a.feed(request);
  EXPECT_EQ(a.state(), State::wrong_protocol);
  Handshake b = client("secret");
  std::string greeting = "LOCKSTEP";
  b.feed(greeting);
  EXPECT_EQ(b.state(), State::wrong_protocol);
  Handshake c = client("secret");
  std::string verdict = server("secret").to_send() + "?";
  c.feed(verdict);
  EXPECT_EQ(c.state(), State::wrong_protocol);
}

TEST(Handshake, TokensAreLongAndDiffer) {
  const std::string token = make_token();
  EXPECT_EQ(token.size(), 64u);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, make_token());
}

}  // namespace
}  // namespace lockstep::internal
