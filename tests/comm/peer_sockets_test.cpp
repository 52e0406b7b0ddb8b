// How a group's connections begin, with peers that the test simulates: hellos that arrive in
// pieces, or followed by more bytes.
#include "comm/mesh/peer_sockets.h"

#include <lockstep/error.h>

#include "base/text.h"
#include "base/thread_annotations.h"
#include "comm/mesh/peer_hello.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <future>
#include <map>
#include <thread>

namespace lockstep::internal::comm {
namespace {

using testing::expect_error;

Deadline later() {
  return Deadline::after(std::chrono::seconds(60));
}

/// A store within this process.
class MapStore : public Store {
 public:
  void set(const std::string& key, const std::string& value) override {
    Lock lock(mutex_);
    values_[key] = value;
    changed_.notify_all();
  }
  std::string get(const std::string& key, const WaitLimit&, int) override {
    Lock lock(mutex_);
    while (!values_.count(key)) changed_.wait(mutex_);
    return values_[key];
  }
  std::optional<std::string> ending_of(int, std::chrono::milliseconds) override { return {}; }

 private:
  Mutex mutex_;
  Condition changed_;
  std::map<std::string, std::string> values_ GUARDED_BY(mutex_);
};

/// Rank 0 of two, which waits for rank 1; the test is rank 1.
class PeerSocketsTest : public ::testing::Test {
 protected:
  void start(int channels, const Deadline& deadline = later()) {
    store_->set("mesh/world/1", "127.0.0.1:1 7 host");
    connected_ = std::async(std::launch::async, [this, channels, deadline] {
      return connect_peers({store_, "secret", "127.0.0.1", "7"}, Membership::world(0, 2), channels,
                           deadline);
    });
  }

  Address address_of_rank_0() {
    return Address::parse(split(store_->get("mesh/world/0", later(), 0), ' ')[0], "rank 0");
  }

  /// A connection on which `ahead` follows the proof in one send, before the answer has arrived.
  UniqueFd connect_and_send(const std::string& ahead) {
    UniqueFd socket = connect_to(address_of_rank_0(), later());
    Handshake handshake(Handshake::Side::client, "secret", "group world of run 7");
    std::string received;
    while (handshake.state() == Handshake::State::in_progress) {
      char block[4096];
      const ssize_t got = ::recv(socket.get(), block, sizeof block, 0);
      if (got <= 0) throw Error("rank 0 hung up");
      received.append(block, static_cast<std::size_t>(got));
      handshake.feed(received);
      if (const std::string words = handshake.to_send(); !words.empty()) say(socket, words + ahead);
    }
    return socket;
  }

  static void say(const UniqueFd& socket, const std::string& bytes) {
    ASSERT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  std::shared_ptr<MapStore> store_ = std::make_shared<MapStore>();
  std::future<std::vector<Peer>> connected_;
};

TEST_F(PeerSocketsTest, BytesBehindTheHelloAreKeptForTheControlMesh) {
  start(1);
  const std::string more(20'000, 'x');
  const UniqueFd socket = connect_and_send(PeerHello{1, 0}.encode() + more);
  const std::vector<Peer> peers = connected_.get();
  std::string came = peers[1].channels[0].received;
  ASSERT_FALSE(came.empty());
  EXPECT_EQ(came, more.substr(0, came.size()));
  // The rest is still in the socket.
  while (came.size() < more.size()) {
    char block[4096];
    const ssize_t got = ::recv(peers[1].channels[0].socket.get(), block, sizeof block, 0);
    if (got <= 0) continue;  // the socket does not block
    came.append(block, static_cast<std::size_t>(got));
  }
  EXPECT_EQ(came, more);
}

TEST_F(PeerSocketsTest, HelloMayArriveInPieces) {
  start(1);
  const std::string hello = PeerHello{1, 0}.encode();
  const UniqueFd socket = connect_and_send(hello.substr(0, 5));
  for (std::size_t i = 5; i < hello.size(); ++i) {
    say(socket, hello.substr(i, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  say(socket, "more");
  EXPECT_EQ(connected_.get()[1].channels[0].received, "");
}

// The wire reads such a connection itself, and would take the bytes behind those for the first.
TEST_F(PeerSocketsTest, WireConnectionWithEarlyBytesIsDropped) {
  start(2);
  const UniqueFd early = connect_and_send(PeerHello{1, 1}.encode() + "early");
  const UniqueFd control = connect_and_send(PeerHello{1, 0}.encode());
  const UniqueFd data = connect_and_send(PeerHello{1, 1}.encode());
  say(data, "data");
  const std::vector<Peer> peers = connected_.get();
  char block[8];
  ssize_t got = -1;
  while (got < 0) got = ::recv(peers[1].channels[1].socket.get(), block, sizeof block, 0);
  EXPECT_EQ(std::string(block, static_cast<std::size_t>(got)), "data");
}

TEST_F(PeerSocketsTest, UnexpectedPeerIsAnErrorIfNoOtherConnects) {
  start(1, Deadline::after(std::chrono::seconds(1)));
  const UniqueFd socket = connect_and_send(PeerHello{2, 0}.encode());
  expect_error<TimeoutError>([&] { connected_.get(); },
                             {"for rank 1 to connect", "as rank 2, channel 0", "'world'"});
}

TEST_F(PeerSocketsTest, UnexpectedPeersDoNotBlockOthers) {
  start(1);
  const UniqueFd invalid = connect_and_send(std::string(PeerHello::kBytes, '?'));
  const UniqueFd other_rank = connect_and_send(PeerHello{2, 0}.encode());
  const UniqueFd other_channel = connect_and_send(PeerHello{1, 5}.encode());
  // Rank 0 has closed all of them before the right one connects.
  for (const UniqueFd* socket : {&invalid, &other_rank, &other_channel}) {
    char byte = 0;
    EXPECT_LE(::recv(socket->get(), &byte, 1, 0), 0);
  }
  const UniqueFd socket = connect_and_send(PeerHello{1, 0}.encode());
  EXPECT_TRUE(connected_.get()[1].channels[0].socket);
}

TEST_F(PeerSocketsTest, ConnectionBrokenBeforeItsHelloDoesNotBlockOthers) {
  start(1);
  {
    const UniqueFd broken = connect_and_send("1 0");
    const linger reset{1, 0};
    ::setsockopt(broken.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  }
  const UniqueFd socket = connect_and_send(PeerHello{1, 0}.encode());
  EXPECT_TRUE(connected_.get()[1].channels[0].socket);
}

}  // namespace
}  // namespace lockstep::internal::comm
