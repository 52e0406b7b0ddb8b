// Processes that run out of file descriptors: the error says so at once, in the process itself and
// in those that wait for it.
#include "base/descriptors.h"

#include <lockstep/error.h>
#include <lockstep/init.h>

#include "base/net/guarded_listener.h"
#include "launch/job.h"
#include "launch/rendezvous/store_client.h"
#include "launch/rendezvous/store_server.h"
#include "support/descriptors.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <string>

namespace lockstep::internal {
namespace {

using testing::expect_error;
using testing::leave_descriptors;

Deadline later() {
  return Deadline::after(std::chrono::minutes(5));
}

/// Runs `body` in a separate process, because it changes the limits.
int in_child(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int code = body();
    std::fflush(nullptr);
    ::_exit(code);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

int failures() {
  return ::testing::Test::HasFailure() ? 1 : 0;
}

class Descriptors : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer of undefined behaviour needs a descriptor to look at an object";
#endif
  }
};

TEST_F(Descriptors, TheSoftLimitIsRaisedToTheHardOne) {
  EXPECT_EQ(in_child([] {
              const rlimit low{64, 200};
              ::setrlimit(RLIMIT_NOFILE, &low);
              raise_descriptor_limit();
              rlimit now{};
              ::getrlimit(RLIMIT_NOFILE, &now);
              EXPECT_EQ(now.rlim_cur, 200u);
              EXPECT_EQ(now.rlim_max, 200u);
              return failures();
            }),
            0);
}

TEST_F(Descriptors, ShortageIsReportedAtOnce) {
  EXPECT_EQ(in_child([] {
              const UniqueFd listener = listen_on({"127.0.0.1", 0});
              const Address address{"127.0.0.1", port_of(listener)};
              leave_descriptors(0);
              auto expect_limit = [](const auto& call) {
                expect_error<DescriptorShortageError>(call, {"128 open files", "ulimit -n"});
              };
              expect_limit([&] { connect_to(address, later()); });
              expect_limit([&] { connect_authenticated(address, "", "test", later()); });
              expect_limit([&] { listen_on({"127.0.0.1", 0}); });
              expect_limit([] { GuardedListener({"127.0.0.1", 0}, "", "test"); });
              expect_limit([] { launch::StoreServer(); });
              return failures();
            }),
            0);
}

TEST_F(Descriptors, ListenerReportsItsShortageToPeers) {
  GuardedListener listener({"127.0.0.1", 0}, "", "test");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    leave_descriptors(0);
    for (;;) {
      pollfd readable{listener.fd(), POLLIN, 0};
      ::poll(&readable, 1, 500);
      listener.service();
    }
  }
  for (int i = 0; i < 3; ++i)  // the listener answers each of them
    expect_error<Error>([&] { connect_authenticated(listener.address(), "", "test", later()); },
                        {"the test at 127.0.0.1:", "no file descriptor left", "ulimit -n"});
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(Descriptors, PendingHandshakesAreDroppedForNewOnes) {
  GuardedListener listener({"127.0.0.1", 0}, "", "test");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    leave_descriptors(1);
    std::vector<AuthenticatedConnection> kept;
    for (;;) {
      pollfd readable{listener.fd(), POLLIN, 0};
      ::poll(&readable, 1, 500);
      for (AuthenticatedConnection& proved : listener.service()) kept.push_back(std::move(proved));
    }
  }
  const UniqueFd silent = connect_to(listener.address(), later());
  char first = 0;
  EXPECT_EQ(::recv(silent.get(), &first, 1, 0), 1);  // its handshake is pending
  EXPECT_TRUE(connect_authenticated(listener.address(), "", "test", later()).socket);
  expect_error<Error>([&] { connect_authenticated(listener.address(), "", "test", later()); },
                      {"no file descriptor left"});
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

/// Rank 1 has `room` free descriptors: it either joins and works, or reports the shortage, and rank
/// 0 names no other rank. Returns whether it worked.
bool works_with(int room, const std::string& transport) {
  const launch::JobResult result = launch::run_forked({.workers = 2}, [&] {
    const bool short_of_them = ::getenv("LOCKSTEP_RANK") == std::string("1");
    if (short_of_them) leave_descriptors(room);
    try {
      Group group = init({.transport = transport});
      const Memory memory = group.allocate(4096);
      group.all_reduce(memory.as<float>());
      return 0;
    } catch (const std::exception& error) {
      const std::string text = error.what();
      const bool told = text.find("open files") != std::string::npos ||
                        (!short_of_them && text.find("rank 1") != std::string::npos);
      if (!told) std::fprintf(stderr, "room for %d: %s\n", room, text.c_str());
      return told ? 3 : 4;
    }
  });
  for (const launch::Outcome& outcome : result.outcomes) EXPECT_NE(outcome.code(), 4);
  return result.code() == 0;
}

TEST_F(Descriptors, RanksJoinWithFewDescriptors) {
  for (const std::string transport : {"shm", "gloo", "auto"}) {
    int room = 0;
    while (room < 40 && !works_with(room, transport)) ++room;
    EXPECT_GT(room, 0) << transport;
    EXPECT_LT(room, 40) << transport;
  }
}

/// The outcome of a split, in memory that all processes share.
struct SplitOutcome {
  std::atomic<bool> over{false};
  std::atomic<bool> worked{false};
  std::atomic<bool> told{false};
};

/// Splits a group whose rank 1 has `room` free descriptors and continues after a failure. Only rank
/// 1 may be named, and not for being late. Returns whether it worked.
bool splits_with(int room, const std::string& transport) {
  void* memory = ::mmap(nullptr, sizeof(SplitOutcome), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* of_rank_0 = new (memory) SplitOutcome;
  launch::run_forked({.workers = 2}, [&] {
    Group group = init({.rendezvous_timeout = std::chrono::seconds(6), .transport = transport});
    group.barrier();
    const bool short_of_them = group.rank() == 1;
    if (short_of_them) leave_descriptors(room);
    std::string error;
    try {
      group.split(0).barrier();
      if (!short_of_them) of_rank_0->worked = true;
    } catch (const PeerLostError& lost) {
      error = lost.what();
      if (!short_of_them) of_rank_0->told = lost.rank() == 1;
    } catch (const std::exception& other) {
      error = other.what();
      if (!short_of_them) of_rank_0->told = error.find("no file descriptor") != std::string::npos;
    }
    if (!short_of_them) {
      if (!of_rank_0->worked && !of_rank_0->told)
        std::fprintf(stderr, "room for %d: %s\n", room, error.c_str());
      of_rank_0->over = true;
    }
    while (!of_rank_0->over) ::usleep(1000);
    return 0;
  });
  const bool worked = of_rank_0->worked;
  EXPECT_TRUE(worked || of_rank_0->told) << transport << ", room for " << room;
  ::munmap(memory, sizeof(SplitOutcome));
  return worked;
}

TEST_F(Descriptors, RanksSplitWithFewDescriptors) {
  for (const std::string transport : {"shm", "gloo", "shm+gloo"}) {
    int room = 0;
    while (room < 40 && !splits_with(room, transport)) ++room;
    EXPECT_GT(room, 0) << transport;
    EXPECT_LT(room, 40) << transport;
  }
}

}  // namespace
}  // namespace lockstep::internal
