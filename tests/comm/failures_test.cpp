// An error instead of a hang: ranks that disagree, die, leave or are late.
#include <lockstep/error.h>
#include <lockstep/group.h>

#include "support/errors.h"
#include "support/fault.h"
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
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using testing::errors_of_ranks;
using testing::expect_error;
using testing::Fault;
using ::testing::HasSubstr;
using testing::RankKind;
using testing::run_ranks;

class Failures : public ::testing::TestWithParam<RankKind> {};

// Empty under mpirun with too few ranks.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Failures);
INSTANTIATE_TEST_SUITE_P(Kinds, Failures, ::testing::ValuesIn(testing::kinds(4)),
                         [](const auto& info) { return testing::name_of(info.param); });

TEST_P(Failures, CountMismatchIsTheSameErrorOnAllRanks) {
  for (Algorithm algorithm : {Algorithm::automatic, Algorithm::ring, Algorithm::star}) {
    const auto errors = errors_of_ranks(GetParam(), 4, [&](Group group) {
      std::vector<float> values(group.rank() == 2 ? 7 : 8);
      group.all_reduce(values, ReduceOp::sum, algorithm);
    });
    EXPECT_THAT(errors, Each(AllOf(HasSubstr("ranks 0, 1 and 3 called all_reduce #1 of 8 float32"),
                                   HasSubstr("rank 2 called all_reduce #1 of 7 float32"))));
  }
}

TEST_P(Failures, OperationMismatchIsTheSameErrorOnAllRanks) {
  const auto errors = errors_of_ranks(GetParam(), 3, [](Group group) {
    std::vector<float> values(8);
    group.barrier();
    if (group.rank() == 0)
      group.broadcast(values, 1);
    else if (group.rank() == 1)
      group.barrier();
    else
      group.all_reduce(values, ReduceOp::max, Algorithm::ring);
  });
  EXPECT_THAT(errors,
              Each(AllOf(HasSubstr("rank 0 called broadcast #2 of 8 float32 (root 1)"),
                         HasSubstr("rank 1 called barrier #2"),
                         HasSubstr("rank 2 called all_reduce #2 of 8 float32 (max, ring)"))));
}

TEST_P(Failures, TypeReductionOrAlgorithmMismatchIsAnError) {
  EXPECT_THAT(errors_of_ranks(GetParam(), 2,
                              [](Group group) {
                                std::vector<float> floats(8);
                                std::vector<std::int32_t> integers(8);
                                if (group.rank() == 0)
                                  group.all_reduce(floats);
                                else
                                  group.all_reduce(integers);
                              }),
              Each(HasSubstr("rank 1 called all_reduce #1 of 8 int32 (sum, ")));
  EXPECT_THAT(errors_of_ranks(GetParam(), 2,
                              [](Group group) {
                                std::vector<float> floats(8);
                                const bool first = group.rank() == 0;
                                group.all_reduce(floats, first ? ReduceOp::sum : ReduceOp::average,
                                                 first ? Algorithm::ring : Algorithm::star);
                              }),
              Each(AllOf(HasSubstr("(sum, ring)"), HasSubstr("(average, star)"))));
}

TEST_P(Failures, WrongMessageLengthNamesBothSides) {
  const auto errors = errors_of_ranks(GetParam(), 2, [](Group group) {
    std::vector<float> values(10);
    if (group.rank() == 0) return group.send(values, 1, 5);
    values.resize(9);
    group.recv(values, 0, 5);
  });
  // The sender may have finished before its message was read.
  EXPECT_THAT(errors[0], AnyOf("", HasSubstr("rank 1 (pid")));
  EXPECT_THAT(errors[1], HasSubstr("rank 1 expected 36 bytes from rank 0 (tag 5), got 40"));
}

TEST_P(Failures, RankThatLeavesIsNamed) {
  for (Algorithm algorithm : {Algorithm::automatic, Algorithm::ring}) {
    const auto errors = errors_of_ranks(GetParam(), 3, [&](Group group) {
      std::vector<float> values(100'000);
      group.all_reduce(values, ReduceOp::sum, algorithm);
      // The rank stays until the others have finished the first call: it may finish before its
      // peers.
      std::vector<float> word(1);
      if (group.rank() == 1) {
        for (int other : {0, 2}) group.recv(word, other, 5);
        throw Error("gave up");
      }
      group.send(word, 1, 5);
      group.all_reduce(values, ReduceOp::sum, algorithm);
    });
    EXPECT_EQ(errors[1], "gave up");
    for (int survivor : {0, 2})
      EXPECT_THAT(errors[static_cast<std::size_t>(survivor)],
                  AllOf(HasSubstr("lost a peer in all_reduce #2"), HasSubstr("rank 1 (pid"),
                        HasSubstr("left the group"),
                        HasSubstr("the last call of rank 1 was all_reduce #1")));
  }
}

TEST_P(Failures, ReceiverDetectsThatItsSenderLeft) {
  const auto errors = errors_of_ranks(GetParam(), 2, [](Group group) {
    std::vector<float> values(1000);
    if (group.rank() == 0) {
      group.send(values, 1);
      return;
    }
    group.recv(values, 0);  // data sent before leaving still arrives
    group.recv(values, 0);
  });
  EXPECT_EQ(errors[0], "");
  EXPECT_THAT(errors[1], AllOf(HasSubstr("waits for 4000 bytes (tag 0) from rank 0"),
                               HasSubstr("rank 0 (pid"), HasSubstr("left the group")));
}

TEST_P(Failures, LateRankIsNamedAtTheDeadline) {
  const auto errors = errors_of_ranks(GetParam(), 3,
                                      [](Group group) {
                                        std::vector<float> values(10);
                                        group.barrier();
                                        if (group.rank() == 2)
                                          std::this_thread::sleep_for(milliseconds(1500));
                                        group.all_reduce(values);
                                      },
                                      {.timeout = milliseconds(200)});
  // The first rank that gives up makes the other give up too; both name the late rank.
  const std::vector<std::string> waiting{errors[0], errors[1]};
  EXPECT_THAT(waiting, Each(AllOf(HasSubstr("in all_reduce #2 of 10 float32"),
                                  HasSubstr("rank 2 (pid"), HasSubstr("barrier #1"))));
  EXPECT_THAT(waiting, Contains(HasSubstr("waited 0.2 s in all_reduce #2")));
  EXPECT_NE(errors[2], "") << "the late rank finds its peers gone";
}

TEST_P(Failures, ReceiveWithoutASendEndsAtTheDeadline) {
  const auto errors = errors_of_ranks(GetParam(), 2,
                                      [](Group group) {
                                        std::vector<float> values(1);
                                        if (group.rank() == 1)
                                          std::this_thread::sleep_for(milliseconds(1500));
                                        if (group.rank() == 0) group.recv(values, 1, 3);
                                      },
                                      {.timeout = milliseconds(200)});
  EXPECT_THAT(errors[0], HasSubstr("rank 0 waited 0.2 s for 4 bytes (tag 3) from rank 1"));
}

TEST_P(Failures, BrokenGroupRepeatsItsError) {
  const auto errors = errors_of_ranks(GetParam(), 2, [](Group group) {
    std::vector<float> values(group.rank() == 0 ? 1 : 2);
    EXPECT_THROW(group.all_reduce(values), MismatchError);
    EXPECT_THROW(group.barrier(), MismatchError);
    Work work = group.all_reduce_async(values);
    EXPECT_THROW(work.wait(), MismatchError);
    group.send(values, 1 - group.rank());
  });
  EXPECT_THAT(errors, Each(HasSubstr("called different operations")));
}

TEST_P(Failures, AsynchronousErrorIsRethrownByWait) {
  const auto errors = errors_of_ranks(GetParam(), 2, [](Group group) {
    std::vector<float> values(group.rank() == 0 ? 1 : 2);
    Work work = group.all_reduce_async(values);
    EXPECT_THROW(work.wait(), MismatchError);
    EXPECT_TRUE(work.done());
    work.wait();
  });
  EXPECT_THAT(errors, Each(HasSubstr("called different operations")));
}

TEST_P(Failures, InvalidArgumentsDoNotBreakTheGroup) {
  const auto errors = errors_of_ranks(GetParam(), 2, [](Group group) {
    std::vector<float> values(4);
    std::vector<std::int32_t> integers(4);
    EXPECT_THROW(group.broadcast(values, 2), UsageError);
    EXPECT_THROW(group.broadcast(values, -1), UsageError);
    EXPECT_THROW(group.send(values, 5), UsageError);
    EXPECT_THROW(group.send(values, group.rank()), UsageError);
    EXPECT_THROW(group.recv(values, 1 - group.rank(), -1), UsageError);
    EXPECT_THROW(group.all_reduce(integers, ReduceOp::average), UsageError);
    if (group.rank() == 0) {
      EXPECT_THROW(group.gather(values, values), UsageError);
    }
    group.barrier();
  });
  EXPECT_THAT(errors, Each(""));
}

TEST_P(Failures, WrongArraySizeOrTypeErrorNamesTheRightOne) {
  run_ranks(GetParam(), 2, [](Group group) {
    std::vector<float> mine(4);
    std::vector<float> all(7);
    std::vector<double> doubles(8);
    expect_error<UsageError>(
        [&] { group.all_gather(mine, all); },
        {"all_gather on rank", "needs 8 float32 for 2 ranks' parts of 4, but got 7"});
    expect_error<UsageError>([&] { group.reduce_scatter(doubles, mine); },
                             {"needs 8 float32", "but got 8 float64"});
    group.barrier();
  });
}

TEST(Failures, AGroupNeedsARank) {
  expect_error<UsageError>([] { run_threads(0, [](Group) {}); }, {"at least one rank, not 0"});
  expect_error<UsageError>([] { parse_algorithm("snake"); }, {"'snake'", "halving-doubling"});
}

/// Rank 1 of 3 ends itself in the middle of a stream of collectives; both survivors must report it.
void expect_death_is_detected(RankKind kind, Fault fault, const std::string& how) {
  for (Algorithm algorithm : {Algorithm::automatic, Algorithm::ring, Algorithm::star}) {
    const auto errors = errors_of_ranks(kind, 3, [&](Group group) {
      std::vector<float> values(50'000);
      for (int round = 0; round < 1000; ++round) {
        if (group.rank() == 1 && round == 7) testing::inject_fault(fault);
        group.all_reduce(values, ReduceOp::sum, algorithm);
      }
    });
    EXPECT_EQ(errors[1], "(died)");
    for (int survivor : {0, 2})
      EXPECT_THAT(
          errors[static_cast<std::size_t>(survivor)],
          AllOf(HasSubstr("all_reduce #8"), HasSubstr("rank 1 (pid"), HasSubstr("died: it " + how)))
          << name_of(algorithm);
  }
}

class Death : public ::testing::TestWithParam<RankKind> {};

// Empty under mpirun.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Death);
INSTANTIATE_TEST_SUITE_P(Kinds, Death, ::testing::ValuesIn(testing::kinds_that_may_die()),
                         [](const auto& info) { return testing::name_of(info.param); });

TEST_P(Death, BySigkillIsDetectedByAllSurvivors) {
  expect_death_is_detected(GetParam(), Fault::kill, "was ended by signal 9 (Killed)");
}

TEST_P(Death, BySigsegvIsDetectedByAllSurvivors) {
  expect_death_is_detected(GetParam(), Fault::segv, "was ended by signal 11 (Segmentation fault)");
}

TEST_P(Death, ByExitIsDetectedByAllSurvivors) {
  expect_death_is_detected(GetParam(), Fault::exit, "exited with code 0");
}

TEST_P(Death, StoppedRankIsNamedAtTheDeadline) {
  for (Algorithm algorithm : {Algorithm::automatic, Algorithm::ring}) {
    const auto errors = errors_of_ranks(GetParam(), 3,
                                        [&](Group group) {
                                          std::vector<float> values(50'000);
                                          group.barrier();
                                          if (group.rank() == 2) testing::inject_fault(Fault::stop);
                                          group.all_reduce(values, ReduceOp::sum, algorithm);
                                        },
                                        {.timeout = testing::kDeadlineOfStopped});
    for (int waiting : {0, 1})
      EXPECT_THAT(errors[static_cast<std::size_t>(waiting)],
                  AllOf(HasSubstr("all_reduce #2"), HasSubstr("rank 2 (pid")))
          << name_of(algorithm);
  }
}

TEST_P(Death, OfRankZeroIsDetected) {
  const auto errors = errors_of_ranks(GetParam(), 3, [](Group group) {
    if (group.rank() == 0) ::kill(::getpid(), SIGKILL);
    group.barrier();
  });
  for (int survivor : {1, 2})
    EXPECT_THAT(errors[static_cast<std::size_t>(survivor)],
                AllOf(HasSubstr("rank 0 (pid"), HasSubstr("died")));
}

TEST_P(Death, DuringAMessageIsDetectedByTheReceiver) {
  const auto errors = errors_of_ranks(GetParam(), 2, [](Group group) {
    std::vector<float> values(1'000'000);
    if (group.rank() == 1) {
      // Delayed, so that not all of it can have arrived.
      std::this_thread::sleep_for(milliseconds(300));
      return group.recv(values, 0);
    }
    Work send = group.isend(values, 1);
    ::kill(::getpid(), SIGKILL);
  });
  EXPECT_THAT(errors[1], AllOf(HasSubstr("from rank 0, but rank 0 (pid"), HasSubstr("died")));
}

}  // namespace
}  // namespace lockstep::internal
