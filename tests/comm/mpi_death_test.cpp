// Real deaths on the mpi transport: every survivor must name the right rank.
//
// Limits of mpirun, compared with Lockstep's own launcher:
// - It does not tell its ranks how one of them ended. Survivors report that rank 1 died; the signal
//   is in the result of run_under_mpirun.
// - It does not count a rank that exits with 0 in the middle as a failure, and neither does
//   Lockstep, which uses its exit codes: only the survivors' errors make the job fail.
// - Rank 0 serves the rendezvous. After its death existing groups still name the right rank, but no
//   new ones can be made.
// - A rank that dies before its MPI_Init has ended blocks the others inside theirs, where nothing
//   can reach them; they are ended after the grace period.
#include "base/files.h"
#include "comm/mpi/mpi_runtime.h"
#include "launch/mpirun.h"
#include "support/random_fault.h"
#include "support/temporary_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <gmock/gmock.h>

namespace lockstep::internal {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using testing::Fault;
using ::testing::HasSubstr;

/// The outcome of a job: each rank's error, "(died)" if it wrote none.
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

  static Ending run(int size, int victim, Fault fault, const std::vector<std::string>& rest) {
    const testing::TemporaryFolder folder;
    Ending ending;
    std::vector<std::string> command{LOCKSTEP_MPI_FAULT_PROGRAM, folder.path().string(),
                                     std::to_string(victim), name_of(fault)};
    command.insert(command.end(), rest.begin(), rest.end());
    ending.job = launch::run_under_mpirun({.workers = size}, command);
    for (int rank = 0; rank < size; ++rank) {
      const auto file = folder.path() / std::to_string(rank);
      ending.errors.push_back(std::filesystem::exists(file) ? read_file(file) : "(died)");
    }
    return ending;
  }

  /// Rank 1 of 3 dies at its eighth all-reduce. It may have finished its part of MPI's own
  /// all-reduce before the others have received its data, so they may still be in the seventh.
  static void expect_death_is_detected(Fault fault, int signal) {
    for (const char* algorithm : {"auto", "ring"}) {
      const Ending ending = run(3, 1, fault, {algorithm});
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

  /// One rank fails at a random moment while all run random operations.
  static void disturb(Fault fault, std::uint64_t seed, int rounds) {
    Random random(seed);
    for (int round = 0; round < rounds; ++round) {
      const testing::RandomFault drawn = testing::draw_fault(random);
      const Ending ending = run(drawn.size, drawn.victim, fault,
                                {std::to_string(drawn.delay.count()), std::to_string(drawn.plan)});
      testing::expect_victim_is_named(ending.errors, fault, drawn, round);
    }
  }
};

TEST_F(MpiDeath, BySigkillIsDetectedByAllSurvivors) {
  expect_death_is_detected(Fault::kill, SIGKILL);
}

TEST_F(MpiDeath, BySigsegvIsDetectedByAllSurvivors) {
  expect_death_is_detected(Fault::segv, SIGSEGV);
}

TEST_F(MpiDeath, ByExitIsDetectedByAllSurvivors) {
  expect_death_is_detected(Fault::exit, 0);
}

TEST_F(MpiDeath, OfRankZeroIsDetected) {
  const Ending ending = run(3, 0, Fault::kill, {"auto"});
  for (std::size_t survivor : {1u, 2u})
    EXPECT_THAT(ending.errors[survivor], AllOf(HasSubstr("rank 0 (pid"), HasSubstr("died")));
}

TEST_F(MpiDeath, StoppedRankIsNamedAtTheDeadline) {
  const Ending ending = run(3, 2, Fault::stop, {"auto"});
  for (std::size_t waiting : {0u, 1u})
    EXPECT_THAT(ending.errors[waiting],
                AllOf(HasSubstr("all_reduce #8"), HasSubstr("rank 2 (pid")));
  EXPECT_NE(ending.errors[2], "(died)");
  EXPECT_NE(ending.errors[2], "") << "the late rank finds its peers gone";
}

TEST_F(MpiDeath, AtRandomNamesTheRightRank) {
  disturb(Fault::kill, 1, 2);
}

TEST_F(MpiDeath, LongBySigkillAtRandomNamesTheRightRank) {
  disturb(Fault::kill, 2, 50);
}

TEST_F(MpiDeath, LongBySigsegvAtRandomNamesTheRightRank) {
  disturb(Fault::segv, 3, 50);
}

TEST_F(MpiDeath, LongByExitAtRandomNamesTheRightRank) {
  disturb(Fault::exit, 4, 50);
}

TEST_F(MpiDeath, LongRankStoppedAtRandomIsNamedWithoutBeingDead) {
  disturb(Fault::stop, 5, 50);
}

}  // namespace
}  // namespace lockstep::internal
