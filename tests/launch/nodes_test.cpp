// The messages between launchers on several hosts. Whole runs on two "hosts" are in
// tests/cli/launch/launch_nodes_test.py.
#include <lockstep/error.h>

#include "launch/nodes/node_hub.h"
#include "launch/nodes/node_link.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

namespace lockstep::internal::launch {
namespace {

using std::chrono::milliseconds;

TEST(NodeMessage, RoundTrips) {
  const NodeMessage sent{NodeMessage::Kind::failed, {3, 137, true, "rank 3 (pid 7) was ended"}};
  const NodeMessage got = NodeMessage::decode(sent.encode());
  EXPECT_EQ(got.kind, sent.kind);
  EXPECT_EQ(got.failure.node, 3);
  EXPECT_EQ(got.failure.code, 137);
  EXPECT_TRUE(got.failure.likely_cause);
  EXPECT_EQ(got.failure.text, sent.failure.text);
  for (const char* invalid :
       {"", "3", "3 1 1", "x 1 1 1 a", "9 1 1 1 a", "3 1 999 1 a", "3 -1 1 1 "})
    EXPECT_THROW(NodeMessage::decode(invalid), Error) << invalid;
}

/// Node 0 and its links, served in turns on one thread; connecting needs a second one.
class Nodes : public ::testing::Test {
 protected:
  explicit Nodes(milliseconds silence = milliseconds(60'000))
      : silence_(silence), hub_("127.0.0.1", "0123456789abcdef", {silence, milliseconds(60'000)}) {}

  void expect(int nodes) {
    std::vector<std::string> hosts;
    for (int node = 0; node < nodes; ++node) hosts.push_back("host" + std::to_string(node));
    hub_.expect(hosts);
  }

  std::unique_ptr<NodeLink> link(int node, const std::string& token = "0123456789abcdef") {
    std::unique_ptr<NodeLink> made;
    std::string error;
    std::atomic<bool> done{false};
    std::thread connecting([&] {
      try {
        made = std::make_unique<NodeLink>(hub_.address(), token, node, silence_,
                                          Deadline::after(milliseconds(20'000)));
      } catch (const Error& problem) {
        error = problem.what();
      }
      done = true;
    });
    while (!done) hub_.tick();
    connecting.join();
    if (!made) throw Error(error);
    return made;
  }

  /// Serves all until `condition` is true; fails the test if it stays false.
  void serve(std::initializer_list<NodeLink*> links, const std::function<bool()>& condition) {
    const Deadline deadline = Deadline::after(milliseconds(30'000));
    while (!condition() && !deadline.passed()) {
      hub_.tick();
      for (NodeLink* link : links) link->tick();
      std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_TRUE(condition());
  }

  const milliseconds silence_;
  NodeHub hub_;
};

TEST_F(Nodes, AllEndTogether) {
  expect(3);
  const auto one = link(1);
  const auto two = link(2);
  one->done();
  hub_.done();
  for (int turn = 0; turn < 100; ++turn) {
    hub_.tick();
    one->tick();
    two->tick();
  }
  EXPECT_FALSE(hub_.ended() || one->ended() || two->ended());
  two->done();
  serve({one.get(), two.get()}, [&] { return hub_.ended() && one->ended() && two->ended(); });
  EXPECT_FALSE(hub_.failure() || one->failure() || two->failure());
}

TEST_F(Nodes, CauseIsReportedToAllBeforeItsConsequences) {
  expect(3);
  const auto one = link(1);
  const auto two = link(2);
  hub_.report({0, 1, false, "rank 0 exited with code 1"});
  two->report({2, 137, true, "rank 5 was ended by signal 9"});
  serve({one.get(), two.get()}, [&] { return hub_.failure() && one->failure() && two->failure(); });
  for (const NodeWatch* watch : {static_cast<NodeWatch*>(&hub_), static_cast<NodeWatch*>(one.get()),
                                 static_cast<NodeWatch*>(two.get())}) {
    EXPECT_EQ(watch->failure()->text, "rank 5 was ended by signal 9");
    EXPECT_EQ(watch->failure()->node, 2);
  }
}

TEST_F(Nodes, LostLauncherIsNamed) {
  expect(3);
  const auto one = link(1);
  auto two = link(2);
  serve({one.get(), two.get()}, [] { return true; });
  two.reset();
  serve({one.get()}, [&] { return one->failure().has_value(); });
  EXPECT_EQ(one->failure()->text, "lost the launcher of node 2 on host2: it closed the connection");
}

TEST_F(Nodes, FinishedNodeMayLeave) {
  expect(2);
  auto one = link(1);
  one->done();
  for (int turn = 0; turn < 100; ++turn) hub_.tick();
  one.reset();
  hub_.done();
  serve({}, [&] { return hub_.ended(); });
  EXPECT_FALSE(hub_.failure());
}

TEST_F(Nodes, WrongTokenIsRejected) {
  expect(2);
  try {
    link(1, "another token of some length");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("token"), std::string::npos) << error.what();
  }
}

TEST_F(Nodes, LauncherOfAnotherRunIsRejected) {
  NodeHub hub("127.0.0.1", "0123456789abcdef", {.run = "this run"});
  std::atomic<bool> done{false};
  std::thread serving([&] {
    while (!done) hub.tick();
  });
  const auto connect = [&](const std::string& run) {
    NodeLink(hub.address(), "0123456789abcdef", 1, silence_, Deadline::after(milliseconds(20'000)),
             run);
  };
  EXPECT_NO_THROW(connect("this run"));
  EXPECT_THROW(connect("another run"), Error);
  done = true;
  serving.join();
}

class SilentNodes : public Nodes {
 protected:
  SilentNodes() : Nodes(milliseconds(1500)) {}
};

TEST_F(SilentNodes, StoppedLauncherIsDetected) {
  expect(2);
  const auto one = link(1);
  serve({}, [&] { return hub_.failure().has_value(); });  // node 1 is silent meanwhile
  EXPECT_EQ(hub_.failure()->text,
            "lost the launcher of node 1 on host1: it has been silent for 2 s");
  hub_.done();
  serve({}, [&] { return hub_.ended(); });
}

TEST_F(SilentNodes, LauncherThatNeverConnectsIsDetected) {
  expect(2);
  serve({}, [&] { return hub_.failure().has_value(); });
  EXPECT_EQ(hub_.failure()->text, "lost the launcher of node 1 on host1: it never connected");
}

}  // namespace
}  // namespace lockstep::internal::launch
