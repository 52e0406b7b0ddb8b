// Unusual uses that once failed, or easily could.
#include <lockstep/error.h>
#include <lockstep/group.h>

#include "base/random.h"
#include "support/random_fault.h"
#include "support/random_operations.h"
#include "support/ranks.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <thread>

namespace lockstep::internal {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Each;
using testing::errors_of_ranks;
using testing::Fault;
using ::testing::HasSubstr;
using testing::RankKind;
using testing::run_ranks;

class Awkward : public ::testing::TestWithParam<RankKind> {};

// Empty under mpirun with too few ranks.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Awkward);
INSTANTIATE_TEST_SUITE_P(Kinds, Awkward, ::testing::ValuesIn(testing::kinds(4)),
                         [](const auto& info) { return testing::name_of(info.param); });

TEST_P(Awkward, FailedAllocationIsReportedOnAllRanks) {
  for (std::size_t bytes : {std::size_t{1} << 46, std::size_t{1} << 62}) {
    const auto errors =
        errors_of_ranks(GetParam(), 3, [bytes](Group group) { group.allocate(bytes); });
    EXPECT_THAT(errors, Each(AllOf(HasSubstr("could"), HasSubstr(" bytes of "),
                                   HasSubstr("use fewer workers"))));
  }
}

TEST_P(Awkward, PendingLongSendDoesNotBlockACollective) {
  run_ranks(GetParam(), 2, [](Group group) {
    std::vector<float> values(1'000'000, static_cast<float>(group.rank()));
    if (group.rank() == 0) {
      Work send = group.isend(values, 1);
      group.barrier();
      send.wait();
    } else {
      group.recv(values, 0);
      group.barrier();
      ASSERT_EQ(values.back(), 0.0f);
    }
  });
}

TEST_P(Awkward, PollingDetectsALostSender) {
  const auto errors = errors_of_ranks(GetParam(), 2, [](Group group) {
    std::vector<float> values(10);
    if (group.rank() == 0) return;
    Work work = group.irecv(values, 0);
    while (!work.done()) std::this_thread::yield();
    work.wait();
  });
  EXPECT_THAT(errors[1], HasSubstr("rank 0 (pid"));
}

TEST_P(Awkward, PollingDetectsAWrongLength) {
  const auto errors = errors_of_ranks(GetParam(), 2, [](Group group) {
    std::vector<float> values(group.rank() == 0 ? 10 : 9);
    if (group.rank() == 0) return group.send(values, 1);
    Work work = group.irecv(values, 0);
    while (!work.done()) std::this_thread::yield();
    EXPECT_TRUE(work.done());
    work.wait();
  });
  EXPECT_THAT(errors[1], HasSubstr("expected 36 bytes from rank 0 (tag 0), got 40"));
}

TEST_P(Awkward, FailedMessageBreaksTheGroup) {
  const auto errors = errors_of_ranks(GetParam(), 2,
                                      [](Group group) {
                                        std::vector<float> values(1);
                                        if (group.rank() == 0) {
                                          EXPECT_THROW(group.recv(values, 1), TimeoutError);
                                          EXPECT_THROW(group.barrier(), TimeoutError);
                                        } else {
                                          std::this_thread::sleep_for(milliseconds(400));
                                        }
                                        group.barrier();
                                      },
                                      {.timeout = milliseconds(200)});
  EXPECT_THAT(errors[0], HasSubstr("waited 0.2 s for 4 bytes (tag 0) from rank 1"));
  EXPECT_THAT(errors[1], HasSubstr("rank 0 gave up because of it"));
}

TEST_P(Awkward, RankThatCatchesAnErrorIsNotNamedAsItsCause) {
  const auto errors = errors_of_ranks(GetParam(), 4, [](Group group) {
    std::vector<float> values(100'000);
    if (group.rank() == 1) throw Error("gone");
    try {
      group.all_reduce(values, ReduceOp::sum, Algorithm::ring);
    } catch (const Error&) {
      std::this_thread::sleep_for(milliseconds(300));
      throw;
    }
  });
  for (std::size_t survivor : {0u, 2u, 3u})
    EXPECT_THAT(errors[survivor], HasSubstr("rank 1 (pid")) << "rank " << survivor;
}

TEST_P(Awkward, DeadlineStartsWithTheWait) {
  run_ranks(GetParam(), 2,
            [](Group group) {
              std::vector<float> values(1);
              if (group.rank() == 0) {
                Work work = group.irecv(values, 1);
                std::this_thread::sleep_for(milliseconds(700));
                work.wait();
              } else {
                std::this_thread::sleep_for(milliseconds(800));
                group.send(values, 0);
              }
            },
            {.timeout = milliseconds(500)});
}

TEST_P(Awkward, InfiniteTimeoutDoesNotOverflow) {
  run_ranks(GetParam(), 2,
            [](Group group) {
              if (group.rank() == 0) std::this_thread::sleep_for(milliseconds(200));
              group.barrier();
            },
            {.timeout = milliseconds::max(), .rendezvous_timeout = milliseconds::max()});
}

TEST_P(Awkward, WorkAndMemoryMayOutliveTheGroup) {
  run_ranks(GetParam(), 2, [](Group member) {
    std::optional<Group> group = member;
    member = Group(nullptr);
    std::vector<float> values(1000, 1.0f);
    Memory memory = group->allocate(4096);
    Work work = group->all_reduce_async(values);
    work.wait();
    group.reset();
    memory.as<float>()[0] = 1;
    work.wait();
    EXPECT_TRUE(work.done());
  });
}

/// One rank fails at a random moment while all run random operations; every other rank must name
/// it.
void inject_at_random(RankKind kind, Fault fault, Random& random, int round) {
  const testing::RandomFault drawn = testing::draw_fault(random);
  GroupOptions options;
  if (fault == Fault::stop) options.timeout = testing::kDeadlineOfStopped;
  const auto errors = errors_of_ranks(
      kind, drawn.size,
      [=](Group group) {
        std::jthread injector;
        if (group.rank() == drawn.victim)
          injector = testing::inject_fault_after(drawn.delay, fault);
        testing::do_random_operations(group, drawn.plan);
      },
      options);
  testing::expect_victim_is_named(errors, fault, drawn, round);
}

class RandomDeath : public ::testing::TestWithParam<RankKind> {
 protected:
  static void disturb(Fault fault, std::uint64_t seed, int rounds) {
    Random random(seed);
    for (int round = 0; round < rounds; ++round) inject_at_random(GetParam(), fault, random, round);
  }
};

// Empty under mpirun.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RandomDeath);
INSTANTIATE_TEST_SUITE_P(Kinds, RandomDeath, ::testing::ValuesIn(testing::kinds_that_may_die()),
                         [](const auto& info) { return testing::name_of(info.param); });

TEST_P(RandomDeath, NamesTheRightRank) {
  disturb(Fault::kill, 1, 6);
  disturb(Fault::segv, 2, 2);
  disturb(Fault::exit, 3, 2);
}

TEST_P(RandomDeath, LongBySigkillNamesTheRightRank) {
  disturb(Fault::kill, 4, 200);
}

TEST_P(RandomDeath, LongBySigsegvNamesTheRightRank) {
  disturb(Fault::segv, 5, 50);
}

TEST_P(RandomDeath, LongByExitNamesTheRightRank) {
  disturb(Fault::exit, 6, 50);
}

TEST_P(RandomDeath, LongStoppedRankIsNamedWithoutBeingDead) {
  disturb(Fault::stop, 7, 50);
}

}  // namespace
}  // namespace lockstep::internal
