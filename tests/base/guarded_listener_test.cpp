// Real sockets on loopback: which connections are accepted, which are not, and that the latter do
// not affect others.
#include "base/net/guarded_listener.h"

#include <lockstep/error.h>

#include "base/thread_annotations.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <thread>

namespace lockstep::internal {
namespace {

using std::chrono::milliseconds;
using testing::expect_error;

Deadline soon() {
  return Deadline::after(milliseconds(20'000));
}

Deadline very_soon() {
  return Deadline::after(milliseconds(300));
}

/// A listener and the thread that serves it.
class Serving {
 public:
  explicit Serving(std::string token) : listener_({"127.0.0.1", 0}, std::move(token), "test") {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        pollfd ready{listener_.fd(), POLLIN, 0};
        ::poll(&ready, 1, 20);
        for (AuthenticatedConnection& each : listener_.service()) {
          const Lock lock(mutex_);
          proved_.push_back(std::move(each));
        }
      }
    });
  }

  Address address() const { return listener_.address(); }

  std::size_t proved() {
    const Lock lock(mutex_);
    return proved_.size();
  }

 private:
  GuardedListener listener_;
  Mutex mutex_;
  std::vector<AuthenticatedConnection> proved_ GUARDED_BY(mutex_);
  std::jthread thread_;
};

/// A listener that accepts a connection and passes it to a function.
class Impostor {
 public:
  explicit Impostor(std::function<void(int)> act) : listener_(listen_on({"127.0.0.1", 0})) {
    thread_ = std::jthread([this, act = std::move(act)](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        pollfd ready{listener_.get(), POLLIN, 0};
        ::poll(&ready, 1, 20);
        UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!socket) continue;
        act(socket.get());
        held_.push_back(std::move(socket));
      }
    });
  }

  Address address() const { return {"127.0.0.1", port_of(listener_)}; }

 private:
  UniqueFd listener_;
  std::vector<UniqueFd> held_;
  std::jthread thread_;
};

void say(int fd, const std::string& bytes) {
  ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

TEST(GuardedListener, AcceptsAConnectionWithTheToken) {
  for (const std::string token : {"", "secret"}) {
    Serving serving(token);
    EXPECT_TRUE(connect_authenticated(serving.address(), token, "test", soon()).socket);
    for (int wait = 0; wait < 500 && serving.proved() == 0; ++wait)
      std::this_thread::sleep_for(milliseconds(10));
    EXPECT_EQ(serving.proved(), 1u);
  }
}

TEST(GuardedListener, RejectsAWrongTokenWithARemedy) {
  Serving serving("secret");
  for (const std::string wrong : {"", "other"})
    expect_error<Error>([&] { connect_authenticated(serving.address(), wrong, "test", soon()); },
                        {serving.address().text() + " refused this process's token: set "
                                                    "LOCKSTEP_TOKEN or --token-file"});
  expect_error<Error>([&] { connect_authenticated(serving.address(), "secret", "else", soon()); },
                      {"refused"});
  EXPECT_EQ(serving.proved(), 0u);
}

TEST(GuardedListener, ServerWithoutTheTokenIsRejected) {
  Impostor impostor([](int fd) {
    say(fd, "LOCKSTP1" + std::string(32, 'n'));
    say(fd, std::string(1, 1) + std::string(32, 'p'));
  });
  expect_error<Error>([&] { connect_authenticated(impostor.address(), "secret", "test", soon()); },
                      {impostor.address().text() +
                       " has another token than this run: it may belong to another run"});
}

TEST(GuardedListener, WithoutATokenOnlyLoopbackIsServed) {
  expect_error<UsageError>(
      [] {
        GuardedListener({"0.0.0.0", 0}, "", "rendezvous");
      },
      {"rendezvous at 0.0.0.0", "LOCKSTEP_TOKEN"});
  EXPECT_NO_THROW(GuardedListener({"127.8.8.8", 0}, "", "rendezvous"));
}

TEST(GuardedListener, PortInUseIsNamed) {
  GuardedListener first({"127.0.0.1", 0}, "", "test");
  expect_error<Error>([&] { GuardedListener(first.address(), "", "test"); },
                      {first.address().text(), "Choose another port"});
}

TEST(ConnectAuthenticated, ReportsThatTheOtherEndIsNotLockstep) {
  const Address unused{"127.0.0.1", port_of(listen_on({"127.0.0.1", 0}))};
  expect_error<TimeoutError>([&] { connect_authenticated(unused, "", "rendezvous", very_soon()); },
                             {"no rendezvous at " + unused.text(), "Connection refused"});
  Impostor silent([](int) {});
  expect_error<TimeoutError>(
      [&] { connect_authenticated(silent.address(), "", "test", very_soon()); },
      {silent.address().text(), "sends nothing"});
  Impostor polite([](int fd) { say(fd, "220 mail.example ESMTP\r\n"); });
  expect_error<TimeoutError>(
      [&] { connect_authenticated(polite.address(), "", "test", very_soon()); },
      {polite.address().text(), "another protocol"});
  Impostor brusque([](int fd) { ::shutdown(fd, SHUT_RDWR); });
  expect_error<TimeoutError>(
      [&] { connect_authenticated(brusque.address(), "", "test", very_soon()); },
      {brusque.address().text(), "closed the connection"});
}

TEST(ConnectAuthenticated, RetriesUntilTheListenerExists) {
  const Address later{"127.0.0.1", port_of(listen_on({"127.0.0.1", 0}))};
  std::optional<GuardedListener> listener;
  std::jthread server([&](const std::stop_token& stop) {
    std::this_thread::sleep_for(milliseconds(100));
    listener.emplace(later, "secret", "test");
    while (!stop.stop_requested()) {
      listener->service();
      std::this_thread::sleep_for(milliseconds(5));
    }
  });
  EXPECT_TRUE(connect_authenticated(later, "secret", "test", soon()).socket);
}

TEST(GuardedListener, HundredsOfInvalidConnectionsDoNotBlockAValidOne) {
  Serving serving("secret");
  std::vector<UniqueFd> invalid;
  for (int i = 0; i < 300; ++i) {
    invalid.push_back(connect_to(serving.address(), soon()));
    // A third is silent, a third sends garbage, a third sends the first half of a handshake.
    if (i % 3 == 1) say(invalid.back().get(), "GET / HTTP/1.1\r\n\r\n");
    if (i % 3 == 2) say(invalid.back().get(), "LOCKSTP1" + std::string(20, 'x'));
    if (i % 30 == 0) {
      EXPECT_TRUE(connect_authenticated(serving.address(), "secret", "test", soon()).socket);
    }
  }
  EXPECT_TRUE(connect_authenticated(serving.address(), "secret", "test", soon()).socket);
}

TEST(GuardedListener, SlowConnectionsDoNotBlockOthers) {
  Serving serving("secret");
  std::vector<UniqueFd> slow;
  for (int i = 0; i < 100; ++i) slow.push_back(connect_to(serving.address(), soon()));
  std::jthread dripping([&](const std::stop_token& stop) {
    const std::string words = "LOCKSTP1" + std::string(64, 'x');
    for (std::size_t i = 0; i < words.size() && !stop.stop_requested(); ++i) {
      for (const UniqueFd& each : slow) say(each.get(), words.substr(i, 1));
      std::this_thread::sleep_for(milliseconds(5));
    }
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(connect_authenticated(serving.address(), "secret", "test", soon()).socket);
}

TEST(GuardedListener, NewestHandshakeReplacesTheOldest) {
  Serving serving("secret");
  UniqueFd oldest = connect_to(serving.address(), soon());
  std::vector<UniqueFd> invalid;
  for (std::size_t i = 0; i < GuardedListener::kMaxPending + 50; ++i)
    invalid.push_back(connect_to(serving.address(), soon()));
  // The connection ends long before its timeout; the server's greeting is read first.
  char block[256];
  ssize_t got = 1;
  for (int i = 0; i < 10 && got > 0; ++i) got = ::recv(oldest.get(), block, sizeof block, 0);
  EXPECT_LE(got, 0);
}

TEST(GuardedListener, ReturnsBytesReceivedAfterTheProof) {
  GuardedListener listener({"127.0.0.1", 0}, "secret", "test");
  const UniqueFd socket = connect_to(listener.address(), soon());
  Handshake handshake(Handshake::Side::client, "secret", "test");
  std::vector<AuthenticatedConnection> proved;
  std::string received;
  for (int i = 0; i < 2000 && proved.empty(); ++i) {
    proved = listener.service();
    char block[256];
    const ssize_t got = ::recv(socket.get(), block, sizeof block, MSG_DONTWAIT);
    if (got > 0) received.append(block, static_cast<std::size_t>(got));
    handshake.feed(received);
    const std::string words = handshake.to_send();
    if (!words.empty()) say(socket.get(), words + "hello");
    std::this_thread::sleep_for(milliseconds(1));
  }
  ASSERT_EQ(proved.size(), 1u);
  EXPECT_EQ(proved[0].received, "hello");
}

}  // namespace
}  // namespace lockstep::internal
