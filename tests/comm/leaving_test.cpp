// Which rank errors name when ranks leave, die or stall at unusual moments.
#include <lockstep/error.h>
#include <lockstep/group.h>

#include "base/deadline.h"
#include "comm/collectives/ring.h"
#include "comm/group_core.h"
#include "comm/mesh/peer_sockets.h"
#include "comm/split.h"
#include "comm/transports.h"
#include "launch/job.h"
#include "launch/rendezvous/join_run.h"
#include "support/ranks.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <climits>
#include <fstream>
#include <gmock/gmock.h>
#include <thread>

namespace lockstep::internal {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Each;
using testing::errors_of_ranks;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RankKind;
using testing::run_ranks;

class Leaving : public ::testing::TestWithParam<RankKind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, Leaving, ::testing::ValuesIn(testing::kinds()),
                         [](const auto& info) { return testing::name_of(info.param); });

TEST_P(Leaving, RankThatGaveUpEarlierIsNotNamedForALaterDelay) {
  const auto errors = errors_of_ranks(GetParam(), 4,
                                      [](Group group) {
                                        std::vector<float> values(1);
                                        group.barrier();
                                        const int rank = group.rank();
                                        // Rank 0 gives up before rank 1's deadline.
                                        if (rank == 1)
                                          std::this_thread::sleep_for(milliseconds(1500));
                                        if (rank == 2)
                                          std::this_thread::sleep_for(milliseconds(1800));
                                        if (rank == 3)
                                          std::this_thread::sleep_for(milliseconds(4000));
                                        else
                                          group.recv(values, rank == 1 ? 2 : 3, 7);
                                      },
                                      {.timeout = milliseconds(600)});
  for (int waiting : {0, 1, 2})
    EXPECT_THAT(errors[static_cast<std::size_t>(waiting)], HasSubstr("rank 3 (pid")) << waiting;
}

TEST_P(Leaving, WaitingOnAWaitingRankNamesTheRankOnTheOtherHost) {
  const auto errors = errors_of_ranks(GetParam(), 4,
                                      [](Group group) {
                                        std::vector<float> values(1);
                                        group.barrier();
                                        if (group.rank() == 2)
                                          std::this_thread::sleep_for(milliseconds(3000));
                                        else
                                          group.recv(values, group.rank() == 1 ? 0 : 2, 7);
                                      },
                                      {.timeout = milliseconds(600)});
  for (int waiting : {0, 1, 3})
    EXPECT_THAT(errors[static_cast<std::size_t>(waiting)], HasSubstr("rank 2 (pid")) << waiting;
}

// Relevant only for transports that announce messages on connections, whose buffers fill up.
TEST(Announcements, UnreadForLongAreNotLost) {
  constexpr int kMessages = 300'000;
  const auto errors = errors_of_ranks(RankKind::gloo, 2, [](Group group) {
    std::vector<float> none;
    if (group.rank() == 0) {
      std::vector<Work> works;
      for (int i = 0; i < kMessages; ++i) works.push_back(group.isend(none, 1, INT_MAX));
      for (Work& work : works) work.wait();
      return;
    }
    std::this_thread::sleep_for(milliseconds(6000));
    for (int i = 0; i < kMessages; ++i) group.recv(none, 0, INT_MAX);
  });
  EXPECT_THAT(errors, Each(""));
}

TEST_P(Leaving, ManyMessagesMayBePending) {
  constexpr int kMessages = 20'000;
  run_ranks(GetParam(), 2, [](Group group) {
    std::vector<float> values(kMessages, 1.0f);
    std::vector<Work> works;
    const std::span<float> all(values);
    if (group.rank() == 0) {
      for (std::size_t i = 0; i < kMessages; ++i)
        works.push_back(group.isend(all.subspan(i, 1), 1, static_cast<int>(i % 10)));
    }
    group.barrier();
    if (group.rank() == 1)
      for (std::size_t i = 0; i < kMessages; ++i)
        works.push_back(group.irecv(all.subspan(i, 1), 0, static_cast<int>(i % 10)));
    for (Work& work : works) work.wait();
  });
}

TEST_P(Leaving, RightAfterTheLastCollectiveIsNotAnError) {
  const char* rounds = std::getenv("LEAVE_ROUNDS");
  for (int round = 0; round < (rounds ? std::atoi(rounds) : 3); ++round) {
    run_ranks(GetParam(), 4, [round](Group group) {
      std::vector<float> values(static_cast<std::size_t>(1 + round * 977 % 50'000), 1.0f);
      for (Algorithm algorithm : {Algorithm::ring, Algorithm::star, Algorithm::tree,
                                  Algorithm::automatic, Algorithm::halving_doubling})
        group.all_reduce(values, ReduceOp::average, algorithm);
      Group part = group.split(group.rank() % 2, 0);
      part.all_reduce(values, ReduceOp::average, round % 2 ? Algorithm::ring : Algorithm::tree);
      part = Group(nullptr);
      group.all_reduce(values, ReduceOp::average, round % 2 ? Algorithm::tree : Algorithm::ring);
      EXPECT_EQ(values[0], 1.0f);
    });
    if (HasFailure()) break;
  }
}

class Network : public ::testing::TestWithParam<RankKind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, Network,
                         ::testing::Values(RankKind::process, RankKind::gloo, RankKind::hosts),
                         [](const auto& info) { return testing::name_of(info.param); });

TEST_P(Network, DeadRankWithALivingChildIsDetected) {
  const auto errors = errors_of_ranks(GetParam(), 3,
                                      [](Group group) {
                                        std::vector<float> values(1);
                                        group.barrier();
                                        if (group.rank() == 1) {
                                          if (::fork() == 0) {
                                            std::this_thread::sleep_for(milliseconds(8000));
                                            ::_exit(0);
                                          }
                                          ::kill(::getpid(), SIGKILL);
                                        }
                                        if (group.rank() == 0)
                                          group.recv(values, 1);
                                        else
                                          group.barrier();
                                      },
                                      {.timeout = milliseconds(15'000)});
  for (int survivor : {0, 2})
    EXPECT_THAT(errors[static_cast<std::size_t>(survivor)],
                AllOf(HasSubstr("rank 1 (pid"), HasSubstr("died: it was ended by signal 9")));
}

/// The size of this process's address space in bytes.
std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}

TEST(Hosts, AllocationFailureOnOneHostIsReportedOnAll) {
  constexpr std::size_t kBytes = 256 << 20;
  const auto errors = errors_of_ranks(RankKind::hosts, 4, [](Group group) {
    group.barrier();
    const rlim_t enough = address_space() + kBytes / 2;
    const rlimit limit{enough, enough};
    if (group.rank() == 3) ::setrlimit(RLIMIT_AS, &limit);
    group.allocate(kBytes);
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("could not get"), HasSubstr("use fewer workers"))));
}

/// Runs `body` on ranks of a launcher; returns each rank's error, "(ended)" for a rank that ended
/// before.
std::vector<std::string> errors_of_run(int size, const std::function<void(launch::Joined)>& body) {
  constexpr std::size_t kLength = 4096;
  const std::size_t bytes = static_cast<std::size_t>(size) * kLength;
  auto* texts = static_cast<char*>(
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  launch::run_forked({.workers = size}, [&] {
    const auto joined = launch::join_run({}, Deadline::after(std::chrono::seconds(30)));
    char* text = texts + static_cast<std::size_t>(joined.world.rank) * kLength;
    std::snprintf(text, kLength, "(ended)");
    std::string error;
    try {
      body(joined);
    } catch (const std::exception& caught) {
      error = caught.what();
    }
    std::snprintf(text, kLength, "%s", error.c_str());
    return 0;
  });
  std::vector<std::string> errors;
  for (int rank = 0; rank < size; ++rank)
    errors.emplace_back(texts + static_cast<std::size_t>(rank) * kLength);
  ::munmap(texts, bytes);
  return errors;
}

TEST(PeerSockets, RankThatDiesBeforeItAcceptsIsNamed) {
  const auto errors = errors_of_run(2, [](const launch::Joined& joined) {
    if (joined.world.rank == 0) {
      // No process listens there any more.
      joined.run.store->set("mesh/world/0", "127.0.0.1:1 " + std::to_string(::getpid()) + " host");
      ::kill(::getpid(), SIGKILL);
    }
    comm::connect_peers(joined.run, joined.world, 1, Deadline::after(std::chrono::seconds(20)));
  });
  EXPECT_THAT(errors[1], HasSubstr("rank 0 was ended by signal 9"));
}

TEST(Split, FailedRankOfAPartIsNamedByItsNumberInTheWholeGroup) {
  const auto errors = errors_of_run(4, [&](const launch::Joined& joined) {
    const int rank = joined.world.rank;
    // Rank 3's report as rank 1 of its part has already been made.
    if (rank == 0) joined.run.store->set("mesh/world/1.1/1", "taken");
    Group whole =
        comm::make_group(comm::make_transport("gloo", joined.network, joined.run, joined.world,
                                              Deadline::after(std::chrono::seconds(30))),
                         {.rendezvous_timeout = std::chrono::seconds(15)});
    whole.split(rank / 2);
    std::this_thread::sleep_for(milliseconds(3000));
    whole.barrier();
  });
  EXPECT_THAT(errors[3], HasSubstr("taken"));
  for (int other : {0, 1, 2})
    EXPECT_THAT(errors[static_cast<std::size_t>(other)],
                AllOf(HasSubstr("rank 3 (pid"), Not(HasSubstr("did not arrive"))));
}

/// Calls split on two ranks, but does not take part in making the part.
void come_to_split(comm::Transport& transport, const Deadline& deadline) {
  transport.agree({.operation = comm::Operation::split, .sequence = 1}, deadline);
  std::vector<std::int32_t> mine(2);
  std::vector<std::int32_t> all(4);
  comm::ring_all_gather(transport, {mine.data(), 2, DataType::int32},
                        {all.data(), 4, DataType::int32}, deadline);
}

/// A transport, and the key that rank 0 of a part sets in the store when it begins to make the
/// part.
struct PartsKey {
  std::string transport;
  std::string key;
};

TEST(Split, EndsWhenAnotherThreadLeavesTheWholeGroup) {
  for (const PartsKey& parts : {PartsKey{"shm", "shm/world/1.0"},
                                {"gloo", "mesh/world/1.0/0"},
                                {"shm+gloo", "proof/world/1.0/0"}}) {
    const auto errors = errors_of_run(2, [&](const launch::Joined& joined) {
      const Deadline deadline = Deadline::after(std::chrono::seconds(30));
      const auto whole =
          comm::make_transport(parts.transport, joined.network, joined.run, joined.world, deadline);
      if (joined.world.rank == 1) {
        come_to_split(*whole, deadline);
        joined.run.store->get("split is over", deadline);
        return whole->require_all_present();
      }
      std::jthread other([&] {
        joined.run.store->get(parts.key, deadline);
        whole->abandon(std::make_exception_ptr(Error("the other thread's error")));
      });
      try {
        comm::split(*whole, 0, 0, 1, deadline, Deadline::after(milliseconds(4000)));
      } catch (const Error&) {
        joined.run.store->set("split is over", "");
        throw;
      }
    });
    EXPECT_EQ(errors[0], "the other thread's error") << parts.transport;
    EXPECT_THAT(errors[1], HasSubstr("left the group")) << parts.transport;
  }
}

TEST(Join, RankThatDiesBeforeItJoinsIsNamed) {
  for (const std::string transport : {"shm", "gloo", "shm+gloo"}) {
    const auto errors = errors_of_run(3, [&](const launch::Joined& joined) {
      if (joined.world.rank == 2) ::kill(::getpid(), SIGKILL);
      comm::make_transport(transport, joined.network, joined.run, joined.world,
                           Deadline::after(std::chrono::seconds(30)));
    });
    for (int survivor : {0, 1})
      EXPECT_THAT(errors[static_cast<std::size_t>(survivor)],
                  AllOf(HasSubstr("rank 2"), HasSubstr("was ended by signal 9")))
          << transport;
  }
}

}  // namespace
}  // namespace lockstep::internal
