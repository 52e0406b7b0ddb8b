// Real processes: what the launcher starts, watches and reports.
#include "launch/job.h"

#include <lockstep/error.h>
#include <lockstep/init.h>

#include "base/files.h"
#include "base/net/socket.h"
#include "launch/environment/environment.h"
#include "launch/hosts/cores.h"
#include "launch/rendezvous/store_client.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace lockstep::internal::launch {
namespace {

int rank() {
  return std::atoi(std::getenv("LOCKSTEP_RANK"));
}

TEST(Job, ReportsEveryRanksExitStatus) {
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

TEST(Job, EndsChildrenOfWorkers) {
  const auto file = std::filesystem::temp_directory_path() /
                    fmt::format("lockstep-grandchild-{}", static_cast<int>(::getpid()));
  const std::string script = fmt::format(
      "if [ $LOCKSTEP_RANK = 0 ]; then exit 3; fi; sleep 600 & echo $! > {}; wait", file.string());
  const JobResult result =
      run_program({.workers = 2, .grace = std::chrono::milliseconds(500)}, {"sh", "-c", script});
  EXPECT_EQ(result.code(), 3);
  const int grandchild = std::stoi(read_file(file));
  // It has ended, although its new parent may not have collected it yet.
  const auto status = fmt::format("/proc/{}/stat", grandchild);
  EXPECT_TRUE(!std::filesystem::exists(status) ||
              read_file(status).find(" Z ") != std::string::npos);
  std::filesystem::remove(file);
}

TEST(Job, DetectsTheEndOfWorkersIfSigchldWasIgnored) {
  ::signal(SIGCHLD, SIG_IGN);
  const JobResult result = run_forked({.workers = 2}, [] { return rank() == 1 ? 5 : 0; });
  EXPECT_EQ(::signal(SIGCHLD, SIG_DFL), SIG_IGN) << "the launcher must put back what it found";
  EXPECT_EQ(result.code(), 5);
}

TEST(Job, WorkerWithALostExitCodeHasFailed) {
  const testing::TemporaryFolder folder;
  const auto started = folder.path() / "started";
  const auto go = folder.path() / "go";
  std::thread other_part([&] {
    while (!std::filesystem::exists(started)) std::this_thread::yield();
    ::signal(SIGCHLD, SIG_IGN);  // from now on the kernel discards the exit status of children
    std::ofstream file(go);
  });
  const std::string script =
      fmt::format("touch {}; until [ -e {} ]; do sleep 0.01; done", started.string(), go.string());
  const JobResult result = run_program({.workers = 1}, {"sh", "-c", script});
  other_part.join();
  ::signal(SIGCHLD, SIG_DFL);
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.code(), 1);
  EXPECT_NE(result.first_failure->text().find("ended with unknown status"), std::string::npos);
}

TEST(Job, WaitingRankEndsWithASignal) {
  const JobResult result = run_forked({.workers = 2, .grace = std::chrono::seconds(60)}, [] {
    if (rank() == 0) {
      const Place place = find_place();
      StoreClient store(place.rendezvous, place.token, Deadline::after(std::chrono::minutes(1)));
      const std::string pid = store.get("rank 1", Deadline::after(std::chrono::minutes(1)));
      ::kill(std::stoi(pid.substr(pid.find(' ') + 1)), SIGTERM);
      store.ending_of(1, std::chrono::minutes(1));
      return 0;
    }
    init();  // waits for rank 0
    return 0;
  });
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.first_failure->rank, 1);
  EXPECT_EQ(result.first_failure->signal, SIGTERM);
}

TEST(Job, ForwardsAnInterruptToItsWorkers) {
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
  const testing::TemporaryFolder folder;
  const std::string script = fmt::format(
      "echo $LOCKSTEP_RANK/$LOCKSTEP_WORLD_SIZE $LOCKSTEP_LOCAL_RANK/$LOCKSTEP_LOCAL_WORLD_SIZE "
      "$RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $GROUP_RANK $MASTER_ADDR "
      "${{MASTER_PORT:+port}} ${{OMP_NUM_THREADS:+threads}} ${{#LOCKSTEP_TOKEN}} "
      "$LOCKSTEP_TRANSPORT $LOCKSTEP_INTERFACE >> {}",
      (folder.path() / "lines").string());
  const JobResult result =
      run_program({.workers = 2, .transport = "gloo", .interface = "lo"}, {"sh", "-c", script});
  EXPECT_EQ(result.code(), 0);
  const std::string lines = read_file(folder.path() / "lines");
  for (int rank : {0, 1})
    EXPECT_NE(lines.find(fmt::format(
                  "{0}/2 {0}/2 {0}/2 {0}/2 0 127.0.0.1 port threads 64 gloo lo\n", rank)),
              std::string::npos)
        << lines;
}

TEST(Job, MasterPortIsFreeForTheProgram) {
  const JobResult result = run_forked({.workers = 1}, [] {
    const Address rendezvous =
        Address::parse(std::getenv("LOCKSTEP_RENDEZVOUS"), "LOCKSTEP_RENDEZVOUS");
    const Address master{std::getenv("MASTER_ADDR"),
                         static_cast<std::uint16_t>(std::atoi(std::getenv("MASTER_PORT")))};
    return master.port != rendezvous.port && listen_on(master) ? 0 : 1;
  });
  EXPECT_EQ(result.code(), 0);
}

TEST(Job, PinsEachWorkerToItsCores) {
  const std::vector<int> cores = usable_cores();
  const int workers = static_cast<int>(std::min<std::size_t>(cores.size(), 2));
  const JobResult pinned = run_forked({.workers = workers, .pin = true}, [&] {
    return usable_cores() == share_of_cores(cores, rank(), workers) ? 0 : 1;
  });
  EXPECT_EQ(pinned.code(), 0);
  // With more workers than cores, none is pinned.
  const JobResult crowded = run_forked({.workers = static_cast<int>(cores.size()) + 1, .pin = true},
                                       [&] { return usable_cores() == cores ? 0 : 1; });
  EXPECT_EQ(crowded.code(), 0);
}

TEST(Job, TellsTheRendezvousHowWorkersEnded) {
  const JobResult result = run_forked({.workers = 2}, [] {
    if (rank() == 1) ::kill(::getpid(), SIGKILL);
    const Place place = find_place();
    StoreClient store(place.rendezvous, place.token, Deadline::after(std::chrono::seconds(10)));
    const auto how = store.ending_of(1, std::chrono::seconds(10));
    return how == "was ended by signal 9 (Killed)" ? 0 : 1;
  });
  for (const Outcome& outcome : result.outcomes)
    EXPECT_EQ(outcome.code(), outcome.rank == 0 ? 0 : 128 + SIGKILL);
}

TEST(Job, ProcessWithoutTheTokenIsRejected) {
  const JobResult result = run_forked({.workers = 1}, [] {
    try {
      StoreClient store(Address::parse(std::getenv("LOCKSTEP_RENDEZVOUS"), "it"), "a wrong token",
                        Deadline::after(std::chrono::seconds(10)));
    } catch (const Error& error) {
      return std::string(error.what()).find("token") != std::string::npos ? 7 : 1;
    }
    return 1;
  });
  EXPECT_EQ(result.code(), 7);
}

TEST(Job, RejectsAReachableRendezvousWithoutAToken) {
  auto start = [](NodeOptions nodes) {
    return [nodes] { run_program({.workers = 1, .nodes = nodes}, {"true"}); };
  };
  using testing::expect_error;
  NodeOptions nodes{.master = {"192.0.2.1", 0}};
  expect_error<UsageError>(start(nodes), {"192.0.2.1", "needs a token", "--new-token FILE"});
  nodes = {.count = 2, .master = {"127.0.0.1", 29500}};
  expect_error<UsageError>(start(nodes), {"several nodes needs a token", "LOCKSTEP_TOKEN"});
  nodes.token = "short";
  expect_error<UsageError>(start(nodes), {"the run's token is invalid"});
  nodes = {.count = 2, .rank = 2, .master = {"127.0.0.1", 29500}};
  expect_error<UsageError>(start(nodes), {"node rank 2 is not one of 0 to 1"});
}

TEST(Job, PortInUseIsNamed) {
  const UniqueFd taken = listen_on({"127.0.0.1", 0});
  const std::uint16_t port = port_of(taken);
  testing::expect_error<Error>(
      [&] {
        run_program({.workers = 1, .nodes = {.master = {"127.0.0.1", port}}}, {"true"});
      },
      {"cannot listen on 127.0.0.1:" + std::to_string(port)});
}

TEST(Job, ReportsTheLastLinesOfAFailingWorker) {
  const JobResult result =
      run_program({.workers = 2},
                  {"sh", "-c", "[ $RANK = 0 ] || { seq 20 >&2; printf 'the end' >&2; exit 4; }"});
  ASSERT_TRUE(result.first_failure);
  EXPECT_FALSE(result.first_failure->host.empty());
  const std::vector<std::string> lines{"12", "13", "14", "15", "16",
                                       "17", "18", "19", "20", "the end"};
  EXPECT_EQ(result.last_lines, lines);
}

TEST(Job, MissingProgramIsNamed) {
  try {
    run_program({.workers = 2}, {"no-such-program"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "cannot start 'no-such-program': No such file or directory");
  }
  EXPECT_THROW(run_program({.workers = 2}, {}), UsageError);
  EXPECT_THROW(run_forked({.workers = 0}, [] { return 0; }), UsageError);
}

TEST(Init, RanksStartedByHandConnectToRankZero) {
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

TEST(Init, TwoProcessesWithOneRankAreAnError) {
  const JobResult result = run_forked({.workers = 2}, [] {
    ::setenv("LOCKSTEP_RANK", "1", 1);
    try {
      init({.rendezvous_timeout = std::chrono::milliseconds(300)});
    } catch (const UsageError& error) {
      return std::string(error.what()).find("two processes claim to be rank 1") == 0 ? 7 : 1;
    } catch (const TimeoutError&) {
      return 0;  // the first one waits for a rank 0 that never arrives
    } catch (const PeerLostError&) {
      return 0;  // or learns that the other, which the launcher knows as rank 0, has ended
    }
    return 1;
  });
  EXPECT_EQ(result.code(), 7);
}

TEST(Init, NothingIsLeftInSharedMemoryWhenAllRanksAreKilled) {
  // Only files with our name: other programs, MPI among them, use /dev/shm meanwhile. The launcher
  // must not hold a segment either, as a file or as memory.
  auto left = [] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
      count += entry.path().filename().string().find("lockstep") != std::string::npos;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;  // the descriptor that lists the folder
      count += std::filesystem::read_symlink(entry, gone).string().find("memfd:lockstep") !=
               std::string::npos;
    }
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      count += line.find("memfd:lockstep") != std::string::npos;
    return count;
  };
  const std::size_t before = left();
  run_forked({.workers = 2}, [] {
    Group group = init();
    Memory memory = group.allocate(1 << 20);
    group.barrier();
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  EXPECT_EQ(left(), before);
}

}  // namespace
}  // namespace lockstep::internal::launch
