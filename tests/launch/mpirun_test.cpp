// Real ranks under a real mpirun, most of them shell scripts: how they are started, and what is
// reported when one fails.
#include "launch/mpirun.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace lockstep::internal::launch {
namespace {

using testing::TemporaryFolder;
using Words = std::vector<std::string>;

class MpirunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::access("/usr/bin/mpirun", X_OK) != 0) GTEST_SKIP() << "mpirun is not installed";
  }

  /// Runs the script on every rank, with its rank in $rank and the folder as working directory.
  JobResult run(int workers, const std::string& script, int grace_ms = 10'000,
                bool gently = false) const {
    return run_under_mpirun(
        {.workers = workers,
         .grace = std::chrono::milliseconds(grace_ms),
         .interrupt_gently = gently},
        {"sh", "-c",
         fmt::format("cd {}; rank=$OMPI_COMM_WORLD_RANK; {}", folder_.path().string(), script)});
  }

  bool exists(const std::string& name) const {
    return std::filesystem::exists(folder_.path() / name);
  }

  /// It has ended, although its new parent may not have collected it yet.
  bool ended(const std::string& file_with_pid) const {
    const auto status =
        fmt::format("/proc/{}/stat", std::stoi(read_file(folder_.path() / file_with_pid)));
    return !std::filesystem::exists(status) || read_file(status).find(" Z ") != std::string::npos;
  }

  TemporaryFolder folder_;
};

TEST_F(MpirunTest, TheCommandStaysOnThisHost) {
  const Words words = mpirun_command(3, {"./mine", "--option"});
  EXPECT_EQ(words[0], "mpirun");
  EXPECT_EQ(Words(words.end() - 4, words.end()), (Words{"-n", "3", "./mine", "--option"}));
  auto has = [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  EXPECT_TRUE(has("--oversubscribe"));
  EXPECT_TRUE(has("self,vader"));
  EXPECT_TRUE(has("lo"));
  EXPECT_EQ(has("--allow-run-as-root"), ::geteuid() == 0);
}

TEST_F(MpirunTest, EveryRankSeesItsPlaceAndItsArguments) {
  const auto file = folder_.path() / "seen";
  const JobResult result = run_under_mpirun(
      {.workers = 3},
      {"sh", "-c", "echo $OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE \"$1|$2\" >> " + file.string(),
       "sh", "two words", "$HOME '\""});
  EXPECT_EQ(result.code(), 0);
  EXPECT_EQ(result.outcomes.size(), 3u);
  const std::string seen = read_file(file);
  for (const char* place : {"0/3", "1/3", "2/3"})
    EXPECT_NE(seen.find(fmt::format("{} two words|$HOME '\"\n", place)), std::string::npos) << seen;
}

TEST_F(MpirunTest, ReturnsTheFirstFailingRanksCode) {
  const JobResult result = run(3, "[ $rank = 1 ] && exit 42; exit 0");
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.first_failure->rank, 1);
  EXPECT_EQ(result.code(), 42);
  EXPECT_EQ(result.outcomes.size(), 3u);
}

TEST_F(MpirunTest, SurvivorsOfAKilledRankContinueAndItsSignalIsNamed) {
  const JobResult result =
      run(3, "[ $rank = 1 ] && kill -9 $$; sleep 2; touch alive-$rank; exit 5");
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.first_failure->rank, 1);
  EXPECT_EQ(result.first_failure->signal, SIGKILL);
  EXPECT_NE(result.first_failure->text().find("ended by signal 9"), std::string::npos);
  EXPECT_GT(result.first_failure->pid, 0);
  EXPECT_EQ(result.code(), 128 + SIGKILL);
  EXPECT_TRUE(exists("alive-0") && exists("alive-2"));
  EXPECT_EQ(result.outcomes.size(), 3u);
}

TEST_F(MpirunTest, EndsRanksThatHangAfterAFailure) {
  const JobResult result = run(2, "[ $rank = 0 ] && exit 3; echo $$ > pid; exec sleep 600", 1000);
  EXPECT_EQ(result.code(), 3);
  EXPECT_TRUE(ended("pid"));
}

TEST_F(MpirunTest, ForwardsAnInterrupt) {
  const JobResult result =
      run(2,
          fmt::format("[ $rank = 0 ] && kill -INT {}; echo $$ > pid-$rank; exec sleep 600",
                      static_cast<int>(::getpid())),
          5000);
  EXPECT_EQ(result.interrupted_by, SIGINT);
  EXPECT_EQ(result.code(), 128 + SIGINT);
  if (exists("pid-0")) {
    EXPECT_TRUE(ended("pid-0"));
  }
}

TEST_F(MpirunTest, GivesRanksTimeToEndCleanly) {
  // Longer than mpirun waits before it kills. All ranks must have started: one that is still
  // starting would just end.
  const std::string script = fmt::format(
      "trap 'sleep 4; touch ended-$rank; exit 5' USR1; touch ready-$rank; "
      "until [ -e ready-0 ] && [ -e ready-1 ]; do sleep 0.1; done; "
      "[ $rank = 0 ] && kill -INT {}; while :; do sleep 0.1; done",
      static_cast<int>(::getpid()));
  const JobResult result = run(2, script, 60'000, true);
  EXPECT_EQ(result.interrupted_by, SIGINT);
  EXPECT_TRUE(exists("ended-0") && exists("ended-1"));
}

TEST_F(MpirunTest, ProgramThatCannotBeStartedIsNamed) {
  testing::expect_error<UsageError>([] { run_under_mpirun({.workers = 2}, {"no-such-program"}); },
                                    {"cannot start 'no-such-program'"});
  EXPECT_THROW(run_under_mpirun({.workers = 2}, {}), UsageError);
  EXPECT_THROW(run_under_mpirun({.workers = 0}, {"true"}), UsageError);

  const std::string path = std::getenv("PATH");
  ::setenv("PATH", folder_.path().c_str(), 1);
  testing::expect_error<UsageError>([] { run_under_mpirun({.workers = 2}, {"/bin/true"}); },
                                    {"mpirun", "not installed", "openmpi-bin"});
  ::setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace lockstep::internal::launch
