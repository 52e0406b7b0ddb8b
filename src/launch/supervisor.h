// Supervisor: watches a run's worker processes until all have ended, and tells what happened to
// whom.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::launch {

/// How a worker ended.
struct Outcome {
  int rank = 0;
  pid_t pid = 0;
  int exit_code = 0;
  int signal = 0;  ///< that ended it; 0 if it exited

  bool failed() const { return exit_code != 0 || signal != 0; }
  /// What a shell would report: the exit code, or 128 + signal.
  int code() const { return signal != 0 ? 128 + signal : exit_code; }
  /// "rank 2 (pid 4711) was ended by signal 9 (Killed)".
  std::string text() const;
};

/// How a run ended.
struct JobResult {
  std::vector<Outcome> outcomes;         ///< in the order in which the workers ended
  std::optional<Outcome> first_failure;  ///< the one to look at; others are often its consequences
  int interrupted_by = 0;                ///< SIGINT or SIGTERM, if one came

  /// 0 if all went well, else the first failing worker's code.
  int code() const;
};

class Supervisor {
 public:
  /// Blocks SIGCHLD, SIGINT and SIGTERM in this thread, and in threads it starts from now on, so
  /// that none is missed. Make it before the first fork. Unblocks them when it goes.
  Supervisor();
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// To be called in the child right after fork: it gets signals of its own and a process group of
  /// its own, so that signals reach what it starts, and dies with its parent.
  static void prepare_child(pid_t parent);

  void add(int rank, pid_t pid);

  /// Returns when all workers have ended. SIGINT and SIGTERM are passed on to them. After a failure
  /// the others have `grace` to notice and end by themselves; then they get SIGTERM, and a moment
  /// later SIGKILL.
  JobResult wait(std::chrono::milliseconds grace);

  /// Ends all workers at once: for a job that could not be started whole.
  void terminate();

 private:
  struct Worker {
    int rank;
    pid_t pid;
  };

  void reap(JobResult& result);
  void signal_all(int signal) const;

  std::vector<Worker> running_;
  sigset_t before_;
  struct sigaction child_action_before_;
};

}  // namespace lockstep::launch
