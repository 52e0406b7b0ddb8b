// How Open MPI 4.1's mpirun handles a rank that fails, as measured:
//
//   options                                a rank is killed         a rank exits with 3
//   (none)                                 others get SIGTERM within a second; code 137 and 3
//   --enable-recovery, --continuous        others continue; code 0, and errors of PMIx on stderr
//   --mca orte_abort_on_non_zero_status 0  others continue; mpirun  others continue; code 0
//                                          itself never ends
//
// None of these gives the other ranks time to report the failed rank and the caller a meaningful
// code. Therefore each rank runs below a shell that delays a failure: it logs how its rank ended,
// and exits with that status only when all other ranks have ended too or the grace is over. mpirun
// then needs no options.
//
// On SIGINT and SIGTERM mpirun waits for odls_base_sigkill_timeout (1 s), forwards SIGTERM, waits
// as long again, and kills. A longer timeout does not help: mpirun always waits for all of it, even
// if the ranks have nothing to finish. It forwards SIGUSR1 at once and lets the ranks end in their
// own time.
//
// A rank that saw a peer fail skips MPI_Finalize, which would wait for that peer;
// orte_allowed_exit_without_sync keeps mpirun from counting this as another failure.
#include "launch/mpirun.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/temporary_file.h"
#include "launch/environment/environment.h"
#include "launch/hosts/cores.h"
#include "launch/process/flight_recorders.h"
#include "launch/process/process_table.h"

#include <fmt/format.h>

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <thread>

namespace lockstep::internal::launch {

namespace {

/// Run as: sh -c kKeeper LOG TENTHS COMMAND… The log gets the lines "RANK pid PID", "RANK ended
/// CODE" and, before mpirun learns of a failure, "RANK released CODE", in the order of the events.
/// Signals end the command, not the shell, which has to log the status. The shell's own output
/// ("Killed") is discarded.
constexpr const char* kKeeper = R"sh(
log=$0 tenths=$1
shift
trap : HUP INT TERM USR1
exec 3>&2 2>/dev/null
sh -c 'echo "$OMPI_COMM_WORLD_RANK pid $$" >>"$0"; exec "$@" 2>&3 3>&-' "$log" "$@"
code=$?
echo "$OMPI_COMM_WORLD_RANK ended $code" >>"$log"
[ $code = 0 ] && exit 0
while [ "$tenths" -gt 0 ] && [ "$(grep -c ended "$log")" -lt "$OMPI_COMM_WORLD_SIZE" ]; do
  sleep 0.1
  tenths=$((tenths - 1))
done
echo "$OMPI_COMM_WORLD_RANK released $code" >>"$log"
exit $code
)sh";

std::vector<std::string> kept(const std::vector<std::string>& command, const std::string& log,
                              std::chrono::milliseconds grace) {
  const auto tenths = std::max<std::int64_t>(1, grace.count() / 100);
  std::vector<std::string> words{"/bin/sh", "-c", kKeeper, log, std::to_string(tenths)};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

/// In the child: becomes mpirun; returns only on failure.
void become(std::vector<std::string> words, pid_t parent) {
  Supervisor::prepare_child(parent);
  // If mpirun were killed with its parent, it could not end the ranks; asked to end, it does.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  redirect_to_null(STDIN_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
}

/// Starts mpirun and waits for its end.
JobResult run_and_wait(const std::vector<std::string>& words, const JobOptions& options) {
  // mpirun, asked to end when its parent dies, needs about two seconds; a second request would make
  // it leave Open MPI's files in /dev/shm.
  Supervisor supervisor({.grace = std::chrono::seconds(6)});
  const pid_t parent = ::getpid();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw Error(fmt::format("cannot start mpirun: {}", last_system_error()));
  if (child == 0) {
    ::setenv(kMarkVariable, supervisor.mark().c_str(), 1);
    become(words, parent);
    std::_Exit(127);
  }
  supervisor.add({0, child});
  return supervisor.wait(options.grace, {.ended = {},
                                         .stop = {},
                                         .interrupt_grace = options.interrupt_grace,
                                         .interrupt_gently = options.interrupt_gently,
                                         .interrupted = options.interrupted});
}

/// How the ranks ended, from their keepers' log. The code of a shell's child is 128 + its signal.
std::vector<Outcome> outcomes_in(const std::string& log) {
  std::istringstream lines(read_file(log));
  std::vector<Outcome> outcomes;
  std::map<int, pid_t> pids;
  bool released = false;  // whether mpirun knows of a failure so far
  std::string what;
  int number = 0;
  for (int rank = 0; lines >> rank >> what >> number;) {
    if (what == "released") {
      released = true;
    } else if (what == "pid") {
      pids[rank] = number;
    } else {
      const bool by_signal = number > 128 && number <= 128 + SIGRTMAX;
      const int signal = by_signal ? number - 128 : 0;
      // mpirun ends the remaining ranks after a failure.
      const bool told = released && (signal == SIGTERM || signal == SIGKILL);
      outcomes.push_back({{rank, pids[rank]}, by_signal ? 0 : number, signal, 0, told});
    }
  }
  return outcomes;
}

bool installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

void require_startable(const JobOptions& options, const std::vector<std::string>& command) {
  if (options.workers < 1)
    throw UsageError(fmt::format("a job needs at least one worker, not {}", options.workers));
  if (process_variable("OMPI_COMM_WORLD_SIZE"))
    throw UsageError(
        "this process was started by mpirun, and mpirun cannot be nested: start the "
        "program without it, or all workers with it");
  if (command.empty()) throw UsageError("there is no program to start: write it after --");
  if (!installed("mpirun"))
    throw UsageError("the transport mpi needs mpirun, which is not installed: install openmpi-bin");
  const std::string& program = command[0];
  const bool there = program.find('/') == std::string::npos ? installed(program)
                                                            : ::access(program.c_str(), X_OK) == 0;
  if (!there) throw UsageError(fmt::format("cannot start '{}': there is no such program", program));
}

}  // namespace

std::vector<std::string> mpirun_command(int workers, const std::vector<std::string>& command) {
  std::vector<std::string> words{"mpirun", "--oversubscribe", "--bind-to", "none", "--quiet"};
  if (::geteuid() == 0) words.push_back("--allow-run-as-root");
  auto set = [&](const char* name, const char* value) {
    words.insert(words.end(), {"--mca", name, value});
  };
  // Shared memory for the data, loopback for mpirun's own messages: nothing leaves this host.
  set("pml", "ob1");
  set("btl", "self,vader");
  set("oob_tcp_if_include", "lo");
  set("orte_allowed_exit_without_sync", "1");
  // Open MPI polls; without this a waiting rank keeps others from its core.
  if (workers > static_cast<int>(std::thread::hardware_concurrency()))
    set("mpi_yield_when_idle", "1");
  // OpenMP reads it when it starts.
  if (!process_variable("OMP_NUM_THREADS"))
    words.insert(words.end(),
                 {"-x", fmt::format("OMP_NUM_THREADS={}", threads_per_worker(workers))});
  words.insert(words.end(), {"-n", std::to_string(workers)});
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

JobResult run_under_mpirun(const JobOptions& options, const std::vector<std::string>& command) {
  require_startable(options, command);
  const TemporaryFile log;
  const FlightRecorders recorders(options.workers);
  auto words = mpirun_command(options.workers, kept(command, log.path(), options.grace));
  for (const auto& [name, value] : recorders.variables())
    words.insert(words.begin() + 1, {"-x", fmt::format("{}={}", name, value)});
  JobResult result = run_and_wait(words, options);
  std::vector<Outcome> outcomes = outcomes_in(log.path());
  const auto failure = std::find_if(outcomes.begin(), outcomes.end(),
                                    [](const Outcome& outcome) { return outcome.failed(); });
  if (failure == outcomes.end() && result.first_failure && result.interrupted_by == 0)
    throw Error(fmt::format("mpirun failed with code {}, although no rank failed",
                            result.first_failure->code()));
  result.first_failure.reset();
  if (failure != outcomes.end()) result.first_failure = *failure;
  result.outcomes = std::move(outcomes);
  result.world_size = options.workers;
  if (result.code() != 0) result.flights = recorders.read(0);
  return result;
}

}  // namespace lockstep::internal::launch
