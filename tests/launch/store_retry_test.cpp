// Requests to the store whose connection is lost are sent again on a new one.
#include <lockstep/error.h>

#include "base/net/frame.h"
#include "base/net/wake_event.h"
#include "launch/environment/run_identity.h"
#include "launch/rendezvous/store_client.h"
#include "launch/rendezvous/store_server.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <optional>
#include <thread>

namespace lockstep::internal::launch {
namespace {

using std::chrono::milliseconds;
using testing::expect_error;

Deadline later() {
  return Deadline::after(std::chrono::minutes(1));
}

/// A proxy between a client and the store, for one connection at a time. It forwards the data, and
/// on demand breaks the connection when data arrives from one side, instead of forwarding it.
class Breaker {
 public:
  enum class Side { none, client, server };

  explicit Breaker(Address server)
      : server_(std::move(server)), listener_(listen_on({"127.0.0.1", 0})) {
    thread_ = std::jthread([this](const std::stop_token& stop) { forward(stop); });
  }
  ~Breaker() {
    thread_.request_stop();
    wake_event_.wake();
  }

  Address address() const { return {"127.0.0.1", port_of(listener_)}; }
  void break_next(Side side, int times = 1) {
    times_ = times;
    side_ = side;
  }
  /// Breaks the next `times` connections at their question for the run's identity.
  void break_introductions(int times) { introductions_ = times; }
  int broken() const { return broken_; }

 private:
  void forward(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd watched[] = {{wake_event_.fd(), POLLIN, 0},
                          {listener_.get(), POLLIN, 0},
                          {client_.get(), POLLIN, 0},
                          {store_.get(), POLLIN, 0}};
      ::poll(watched, 4, -1);
      if (watched[2].revents != 0) pass(client_, store_, Side::client);
      if (watched[3].revents != 0 && store_) pass(store_, client_, Side::server);
      if (watched[1].revents != 0) accept();
    }
  }

  void accept() {
    client_ = UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    store_ = connect_to(server_, later());
  }

  void pass(UniqueFd& from, UniqueFd& to, Side side) {
    char block[4096];
    const ssize_t got = ::recv(from.get(), block, sizeof block, 0);
    const std::string question = make_frame(
        StoreRequest{.kind = StoreRequest::Kind::look, .key = kRunKey, .value = {}, .rank = -1}
            .encode());
    const bool introduces = got > 0 && side == Side::client && introductions_ > 0 &&
                            std::string(block, static_cast<std::size_t>(got)) == question;
    if (introduces) --introductions_;
    const bool breaks = introduces || (got > 0 && side_ == side);
    if (breaks) ++broken_;  // before the client can notice
    if (got <= 0 || breaks) {
      client_.reset();
      store_.reset();
    }
    if (!breaks) {
      if (got > 0) ::send(to.get(), block, static_cast<std::size_t>(got), MSG_NOSIGNAL);
      return;
    }
    if (introduces) return;
    // The next connection's handshake is forwarded.
    if (--times_ == 0) side_ = Side::none;
  }

  const Address server_;
  const UniqueFd listener_;
  WakeEvent wake_event_;
  UniqueFd client_;
  UniqueFd store_;
  std::atomic<Side> side_{Side::none};
  std::atomic<int> times_{0};
  std::atomic<int> introductions_{0};
  std::atomic<int> broken_{0};
  std::jthread thread_;
};

/// A store, and a client whose connection can be broken.
struct Broken {
  StoreServer server;
  std::optional<Breaker> breaker;
  std::optional<StoreClient> client;

  Broken() {
    server.start();
    breaker.emplace(server.address());
    client.emplace(breaker->address(), "", later());
  }
};

class StoreRetry : public ::testing::TestWithParam<Breaker::Side> {};
INSTANTIATE_TEST_SUITE_P(Sides, StoreRetry,
                         ::testing::Values(Breaker::Side::client, Breaker::Side::server),
                         [](const auto& info) {
                           return info.param == Breaker::Side::client ? "RequestLost"
                                                                      : "AnswerLost";
                         });

TEST_P(StoreRetry, EveryRequestIsAnswered) {
  Broken run;
  StoreClient& client = *run.client;
  StoreClient other(run.server.address(), "", later());
  auto with_loss = [&](const auto& call) {
    run.breaker->break_next(GetParam());
    return call();
  };
  with_loss([&] { client.set("key", "value"); });
  EXPECT_EQ(other.look("key"), "value");
  EXPECT_EQ(with_loss([&] { return client.get("key", later()); }), "value");
  EXPECT_EQ(with_loss([&] { return client.look("key"); }), "value");
  EXPECT_EQ(with_loss([&] { return client.set_first("first", "mine"); }), "mine");
  EXPECT_EQ(with_loss([&] { return client.set_first("key", "mine"); }), "value");
  with_loss([&] { client.note_ending(3, "exited"); });
  EXPECT_EQ(with_loss([&] { return client.ending_of(3, std::chrono::minutes(1)); }), "exited");
  EXPECT_EQ(run.breaker->broken(), 7);
}

TEST_P(StoreRetry, ClaimOfAnotherProcessIsStillRejected) {
  Broken run;
  StoreClient(run.server.address(), "", later()).set("rank 3", "pid 7");
  run.breaker->break_next(GetParam());
  expect_error<UsageError>([&] { run.client->set("rank 3", "pid 8"); }, {"two processes", "pid 7"});
}

TEST_P(StoreRetry, LostOnDisconnectIsNotRepeated) {
  Broken run;
  run.breaker->break_next(GetParam());
  EXPECT_THROW(run.client->declare_lost_on_disconnect(2), RendezvousLostError);
}

TEST(StoreRetryAfter, StoreThatKeepsClosingConnectionsIsLost) {
  Broken run;
  // The first request is lost, then each new connection in the middle of its handshake.
  run.breaker->break_next(Breaker::Side::client, 1'000'000);
  EXPECT_THROW(run.client->look("key"), RendezvousLostError);
}

TEST(StoreRetryAfter, NewConnectionIsLostToo) {
  Broken run;
  run.breaker->break_introductions(1);
  run.breaker->break_next(Breaker::Side::client);
  run.client->set("key", "value");
  EXPECT_EQ(run.client->look("key"), "value");
  EXPECT_EQ(run.breaker->broken(), 2);
}

TEST(StoreRetryAfter, ThreeConnectionsAreTried) {
  Broken run;
  run.breaker->break_introductions(1'000'000);
  run.breaker->break_next(Breaker::Side::client);
  EXPECT_THROW(run.client->look("key"), RendezvousLostError);
  EXPECT_EQ(run.breaker->broken(), 3);
}

TEST(StoreRetryAfter, UnsentLostOnDisconnectIsSentOnANewConnection) {
  Broken run;
  run.breaker->break_next(Breaker::Side::client);
  EXPECT_THROW(run.client->declare_lost_on_disconnect(2),
               RendezvousLostError);  // no connection is left
  run.breaker->break_introductions(1);
  EXPECT_NO_THROW(run.client->declare_lost_on_disconnect(2));
}

TEST(StoreRetryAfter, ConnectionIsLostWhileIdle) {
  auto server = std::make_unique<StoreServer>();
  server->start();
  const Address address = server->address();
  StoreClient client(address, "", later());
  client.set("key", "value");
  server = nullptr;
  server = std::make_unique<StoreServer>(address, "", client.run());
  server->start();
  EXPECT_EQ(client.look("key"), std::nullopt);
  server = nullptr;
  EXPECT_THROW(client.look("key"), RendezvousLostError);
}

}  // namespace
}  // namespace lockstep::internal::launch
