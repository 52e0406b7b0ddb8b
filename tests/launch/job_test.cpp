// Real processes: what the launcher starts, watches and reports.
#include "launch/job.h"

#include <lockstep/error.h>
#include <lockstep/init.h>

#include "base/files.h"
#include "launch/socket.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace lockstep::launch {
namespace {

int rank() {
  return std::atoi(std::getenv("LOCKSTEP_RANK"));
}

TEST(Job, ReportsEveryRanksEnd) {
  const JobResult result = run_forked({.workers = 3}, [] { return 0; });
  EXPECT_EQ(result.outcomes.size(), 3u);
  EXPECT_FALSE(result.first_failure);
  EXPECT_EQ(result.code(), 0);
}

TEST(Job, ReturnsTheFirstFailingWorkersCode) {
  const JobResult result = run_forked({.workers = 3}, [] { return rank() == 1 ? 42 : 0; });
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.first_failure->rank, 1);
  EXPECT_EQ(result.code(), 42);
  EXPECT_EQ(result.first_failure->text(),
            fmt::format("rank 1 (pid {}) exited with code 42", result.first_failure->pid));
}

TEST(Job, NamesTheSignalThatEndedAWorker) {
  const JobResult result = run_forked({.workers = 2}, [] {
    if (rank() == 0) ::kill(::getpid(), SIGKILL);
    return 0;
  });
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.code(), 128 + SIGKILL);
  EXPECT_NE(result.first_failure->text().find("signal 9 (Killed)"), std::string::npos);
}

TEST(Job, EndsWorkersThatHangAfterAFailure) {
  const JobResult result = run_forked({.workers = 2, .grace = std::chrono::milliseconds(100)}, [] {
    if (rank() == 0) return 1;
    ::signal(SIGTERM, SIG_IGN);
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  });
  ASSERT_EQ(result.outcomes.size(), 2u);
  EXPECT_EQ(result.first_failure->rank, 0);
  EXPECT_EQ(result.outcomes[1].signal, SIGKILL);
}

TEST(Job, EndsWhatAWorkerStartedToo) {
  const auto file = std::filesystem::temp_directory_path() /
                    fmt::format("lockstep-grandchild-{}", static_cast<int>(::getpid()));
  const std::string script = fmt::format(
      "if [ $LOCKSTEP_RANK = 0 ]; then exit 3; fi; sleep 600 & echo $! > {}; wait", file.string());
  const JobResult result =
      run_program({.workers = 2, .grace = std::chrono::milliseconds(500)}, {"sh", "-c", script});
  EXPECT_EQ(result.code(), 3);
  const int grandchild = std::stoi(read_file(file));
  // Ended, though whoever adopted it may not have collected it yet.
  const auto status = fmt::format("/proc/{}/stat", grandchild);
  EXPECT_TRUE(!std::filesystem::exists(status) ||
              read_file(status).find(" Z ") != std::string::npos);
  std::filesystem::remove(file);
}

TEST(Job, SeesItsWorkersEndEvenIfSigchldWasIgnored) {
  ::signal(SIGCHLD, SIG_IGN);
  const JobResult result = run_forked({.workers = 2}, [] { return rank() == 1 ? 5 : 0; });
  EXPECT_EQ(::signal(SIGCHLD, SIG_DFL), SIG_IGN) << "the launcher must put back what it found";
  EXPECT_EQ(result.code(), 5);
}

TEST(Job, PassesAnInterruptOnToItsWorkers) {
  const pid_t launcher = ::getpid();
  const JobResult result = run_forked({.workers = 2}, [launcher] {
    if (rank() == 0) ::kill(launcher, SIGINT);
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
    return 0;
  });
  EXPECT_EQ(result.interrupted_by, SIGINT);
  EXPECT_EQ(result.code(), 128 + SIGINT);
  for (const Outcome& outcome : result.outcomes) EXPECT_EQ(outcome.signal, SIGINT);
}

TEST(Job, StartsAProgramWithItsPlaceInTheEnvironment) {
  const auto file = std::filesystem::temp_directory_path() /
                    fmt::format("lockstep-job-{}", static_cast<int>(::getpid()));
  const std::string script =
      fmt::format("echo $LOCKSTEP_RANK/$LOCKSTEP_WORLD_SIZE ${{OMP_NUM_THREADS:+threads}} >> {}",
                  file.string());
  const JobResult result = run_program({.workers = 2}, {"sh", "-c", script});
  EXPECT_EQ(result.code(), 0);
  const std::string lines = read_file(file);
  EXPECT_NE(lines.find("0/2 threads\n"), std::string::npos);
  EXPECT_NE(lines.find("1/2 threads\n"), std::string::npos);
  std::filesystem::remove(file);
}

TEST(Job, AProgramThatDoesNotExistIsAnErrorThatNamesIt) {
  try {
    run_program({.workers = 2}, {"no-such-program"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "cannot start 'no-such-program': No such file or directory");
  }
  EXPECT_THROW(run_program({.workers = 2}, {}), UsageError);
  EXPECT_THROW(run_forked({.workers = 0}, [] { return 0; }), UsageError);
}

TEST(Init, RanksStartedByHandMeetAtRankZero) {
  // A port that was free a moment ago.
  const std::uint16_t port = port_of(listen_on({"127.0.0.1", 0}));
  const JobResult result = run_forked({.workers = 3}, [port] {
    const std::string mine = std::getenv("LOCKSTEP_RANK");
    ::unsetenv("LOCKSTEP_RANK");
    ::unsetenv("LOCKSTEP_WORLD_SIZE");
    ::setenv("RANK", mine.c_str(), 1);
    ::setenv("WORLD_SIZE", "3", 1);
    ::setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
    Group group = init();
    std::vector<std::int64_t> ranks{group.rank()};
    group.all_reduce(ranks);
    return ranks[0] == 3 && group.transport() == "shm" ? 0 : 1;
  });
  EXPECT_EQ(result.code(), 0);
}

TEST(Init, TwoProcessesOfOneRankAreToldSo) {
  const JobResult result = run_forked({.workers = 2}, [] {
    ::setenv("LOCKSTEP_RANK", "1", 1);
    try {
      init({.rendezvous_timeout = std::chrono::milliseconds(300)});
    } catch (const UsageError& error) {
      return std::string(error.what()).find("two processes claim to be rank 1") == 0 ? 7 : 1;
    } catch (const TimeoutError&) {
      return 0;  // the one that came first waits for a rank 0 that never comes
    }
    return 1;
  });
  EXPECT_EQ(result.code(), 7);
}

TEST(Init, NothingIsLeftInSharedMemoryWhenAllRanksAreKilled) {
  auto files = [] {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
      ++count;
    return count;
  };
  const std::size_t before = files();
  run_forked({.workers = 2}, [] {
    Group group = init();
    Memory memory = group.allocate(1 << 20);
    group.barrier();
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace lockstep::launch
