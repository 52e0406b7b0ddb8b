// Real deaths on the mpi transport: every survivor must name the right rank.
//
// What mpirun does not let us have, compared with ranks that Lockstep's own launcher started:
// - It does not tell its ranks how one of them ended. Survivors say that rank 1 died; that it was
//   signal 9 is in the result of run_under_mpirun.
// - A rank that exits with 0 in the middle is no failure to it, nor to us, who go by its exit
//   codes: only the survivors' own errors make the job fail.
// - Rank 0 serves the rendezvous. After its death groups that exist still blame the right rank, but
//   no new ones can be made.
// - A rank that dies before its MPI_Init has ended keeps the others inside theirs, where nothing
//   can reach them; they are ended after the grace.
#include "base/files.h"
#include "comm/mpi/mpi_runtime.h"
#include "launch/mpirun.h"
#include "support/random_mishap.h"
#include "support/temporary_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <gmock/gmock.h>

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::Mishap;

/// What became of a job: each rank's error, "(died)" if it left none.
struct Ending {
  launch::JobResult job;
  std::vector<std::string> errors;
};

class MpiDeath : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!comm::mpi_built()) GTEST_SKIP() << "this build has no MPI";
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "thread sanitizer cannot see MPI's locks";
#endif
  }

  static Ending run(int size, int victim, Mishap mishap, const std::vector<std::string>& rest) {
    const testing::TemporaryFolder folder;
    Ending ending;
    std::vector<std::string> command{LOCKSTEP_MPI_MORTAL, folder.path().string(),
                                     std::to_string(victim), name_of(mishap)};
    command.insert(command.end(), rest.begin(), rest.end());
    ending.job = launch::run_under_mpirun({.workers = size}, command);
    for (int rank = 0; rank < size; ++rank) {
      const auto file = folder.path() / std::to_string(rank);
      ending.errors.push_back(std::filesystem::exists(file) ? read_file(file) : "(died)");
    }
    return ending;
  }

  /// Rank 1 of 3 dies at its eighth all-reduce. It may have done its part of MPI's own all-reduce
  /// before others have got what they need of it, so they may still be in the seventh.
  static void expect_death_is_noticed(Mishap mishap, int signal) {
    for (const char* algorithm : {"auto", "ring"}) {
      const Ending ending = run(3, 1, mishap, {algorithm});
      EXPECT_EQ(ending.errors[1], "(died)");
      for (std::size_t survivor : {0u, 2u})
        EXPECT_THAT(ending.errors[survivor], AllOf(ContainsRegex("all_reduce #[78]"),
                                                   HasSubstr("rank 1 (pid"), HasSubstr("died")))
            << algorithm;
      EXPECT_EQ(ending.job.code(), signal == 0 ? 0 : 128 + signal);
      if (signal != 0) {
        ASSERT_TRUE(ending.job.first_failure);
        EXPECT_EQ(ending.job.first_failure->rank, 1);
      }
    }
  }

  /// One rank comes to grief at a random moment while all do random operations.
  static void disturb(Mishap mishap, std::uint64_t seed, int rounds) {
    Random random(seed);
    for (int round = 0; round < rounds; ++round) {
      const testing::RandomMishap drawn = testing::draw_mishap(random);
      const Ending ending = run(drawn.size, drawn.victim, mishap,
                                {std::to_string(drawn.delay.count()), std::to_string(drawn.plan)});
      testing::expect_victim_is_named(ending.errors, mishap, drawn, round);
    }
  }
};

TEST_F(MpiDeath, BySigkillIsNoticedByAllSurvivors) {
  expect_death_is_noticed(Mishap::kill, SIGKILL);
}

TEST_F(MpiDeath, BySigsegvIsNoticedByAllSurvivors) {
  expect_death_is_noticed(Mishap::segv, SIGSEGV);
}

TEST_F(MpiDeath, ByExitInTheMiddleIsNoticedByAllSurvivors) {
  expect_death_is_noticed(Mishap::exit, 0);
}

TEST_F(MpiDeath, OfRankZeroIsNoticedToo) {
  const Ending ending = run(3, 0, Mishap::kill, {"auto"});
  for (std::size_t survivor : {1u, 2u})
    EXPECT_THAT(ending.errors[survivor], AllOf(HasSubstr("rank 0 (pid"), HasSubstr("died")));
}

TEST_F(MpiDeath, OfAStoppedRankIsNoDeathButItIsNamedAtTheDeadline) {
  const Ending ending = run(3, 2, Mishap::stop, {"auto"});
  for (std::size_t waiting : {0u, 1u})
    EXPECT_THAT(ending.errors[waiting],
                AllOf(HasSubstr("all_reduce #8"), HasSubstr("rank 2 (pid")));
  EXPECT_NE(ending.errors[2], "(died)");
  EXPECT_NE(ending.errors[2], "") << "the late rank finds its peers gone";
}

TEST_F(MpiDeath, AtRandomIsAlwaysPutDownToTheRightRank) {
  disturb(Mishap::kill, 1, 2);
}

TEST_F(MpiDeath, LongBySigkillAtRandomIsAlwaysPutDownToTheRightRank) {
  disturb(Mishap::kill, 2, 50);
}

TEST_F(MpiDeath, LongBySigsegvAtRandomIsAlwaysPutDownToTheRightRank) {
  disturb(Mishap::segv, 3, 50);
}

TEST_F(MpiDeath, LongByExitAtRandomIsAlwaysPutDownToTheRightRank) {
  disturb(Mishap::exit, 4, 50);
}

TEST_F(MpiDeath, LongOfARankStoppedAtRandomIsNoneButItIsNamed) {
  disturb(Mishap::stop, 5, 50);
}

}  // namespace
}  // namespace lockstep
