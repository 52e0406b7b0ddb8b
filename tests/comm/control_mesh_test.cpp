// The control mesh with peers that the test simulates, so that it controls the order of events.
#include "comm/mesh/control_mesh.h"

#include <lockstep/error.h>

#include "base/net/frame.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <atomic>
#include <thread>

namespace lockstep::internal::comm {
namespace {

using testing::expect_error;

/// No launcher watches these ranks, and they need no rendezvous.
class NoStore : public Store {
 public:
  void set(const std::string&, const std::string&) override {}
  std::string get(const std::string&, const WaitLimit&, int) override { return ""; }
  std::optional<std::string> ending_of(int, std::chrono::milliseconds) override { return {}; }
};

/// Rank 0 of a group, and the other ends of its connections.
class ControlMeshTest : public ::testing::Test {
 protected:
  void make_mesh(int size) {
    std::vector<Peer> peers(static_cast<std::size_t>(size));
    ends_.resize(peers.size());
    for (std::size_t rank = 1; rank < peers.size(); ++rank) {
      int pair[2];
      ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
      ends_[rank].reset(pair[1]);
      peers[rank].channels.push_back({UniqueFd(pair[0]), ""});
    }
    mesh_.emplace(RunContext{std::make_shared<NoStore>(), "", ""}, Membership::world(0, size),
                  "test", peers,
                  [](int, const ControlMessage&) { return std::vector<ControlMessage>(); });
  }

  /// Sends all at once, so that a thread that reads the first message has read all.
  void send(int from, const std::vector<ControlMessage>& messages) {
    std::string bytes;
    for (const ControlMessage& message : messages) bytes += make_frame(encode(message));
    const int end = ends_[static_cast<std::size_t>(from)].get();
    ASSERT_EQ(::send(end, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  /// Ends a peer's connection after its last messages, as ControlLink::leave does.
  void send_last(int from, const std::vector<ControlMessage>& messages) {
    send(from, messages);
    ::shutdown(ends_[static_cast<std::size_t>(from)].get(), SHUT_WR);
  }

  static Fingerprint call_of(std::uint64_t count) {
    return {.operation = Operation::all_reduce,
            .type = DataType::float32,
            .count = count,
            .sequence = 1};
  }

  void agree(std::uint64_t count) {
    mesh_->agree(call_of(count), Deadline::after(std::chrono::seconds(60)));
  }

  std::optional<ControlMesh> mesh_;

 private:
  std::vector<UniqueFd> ends_;
};

TEST_F(ControlMeshTest, MismatchListsTheCallsOfRanksThatHaveLeft) {
  make_mesh(3);
  send_last(1, {Call{call_of(8)}, Goodbye{}});
  send_last(2, {Call{call_of(7)}, Goodbye{}});
  expect_error<MismatchError>([&] { agree(8); }, {"ranks 0 and 1 called", "rank 2 called"});
}

// Another thread of rank 1 waited for a message of rank 2, which left because of the mismatch.
TEST_F(ControlMeshTest, MismatchIsReportedBeforeTheLostRankItCaused) {
  make_mesh(3);
  send_last(1, {Call{call_of(8)}, Goodbye{.culprit = 2}});
  send_last(2, {Call{call_of(7)}, Goodbye{}});
  expect_error<MismatchError>([&] { agree(8); }, {"ranks 0 and 1 called", "rank 2 called"});
}

TEST_F(ControlMeshTest, RankThatGaveUpAnAgreedCallIsLost) {
  make_mesh(3);
  send_last(1, {Call{call_of(8)}, Goodbye{.culprit = 0}});
  send(2, {Call{call_of(8)}});
  expect_error<PeerLostError>([&] { agree(8); }, {"rank 1 gave up because of it"});
}

TEST_F(ControlMeshTest, RankThatLeavesWithoutACallIsLost) {
  make_mesh(3);
  send(1, {Call{call_of(8)}});
  send_last(2, {Goodbye{}});
  expect_error<PeerLostError>([&] { agree(8); }, {"rank 2 (pid", "left the group"});
}

TEST_F(ControlMeshTest, MessagesAfterAGoodbyeAreIgnored) {
  make_mesh(2);
  send(1, {Goodbye{}, Call{call_of(8)}, Goodbye{.culprit = 0}});
  for (int reads = 0; reads < 3; ++reads) mesh_->progress();
  EXPECT_TRUE(mesh_->gone(1));
  EXPECT_FALSE(mesh_->failed(1));
  expect_error<PeerLostError>([&] { agree(8); }, {"rank 1 (pid", "left the group"});
}

// Another thread may read a call and the goodbye behind it at any moment of the wait, also between
// the check for missing ranks and the check for lost ranks. Many ranks, and threads that keep
// taking the mesh's lock, make that window long.
TEST_F(ControlMeshTest, RankThatCallsAndLeavesDuringTheCheckIsNotLost) {
  constexpr int kSize = 400;
  for (int round = 0; round < 5 && !HasFailure(); ++round) {
    make_mesh(kSize);
    std::atomic<bool> over{false};
    auto take_the_lock = [&] {
      while (!over) mesh_->gone(1);
    };
    std::vector<std::thread> others;
    for (int i = 0; i < 4; ++i) others.emplace_back(take_the_lock);
    std::thread peers([&] {
      for (int rank = kSize - 1; rank > 0; --rank) {
        send_last(rank, {Call{call_of(8)}, Goodbye{}});
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        mesh_->progress();
      }
    });
    EXPECT_NO_THROW(agree(8));
    peers.join();
    over = true;
    for (std::thread& other : others) other.join();
  }
}

}  // namespace
}  // namespace lockstep::internal::comm
