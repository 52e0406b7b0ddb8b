// How the workers and the run as a whole ended.
#pragma once

#include "comm/flight/flight_log.h"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::launch {

/// A worker process.
struct Worker {
  int rank = 0;
  pid_t pid = 0;
  std::string host{};  ///< its host; empty in a run on one host
};

/// How a worker ended.
struct Outcome : Worker {
  int exit_code = 0;
  int signal = 0;     ///< the signal that ended it; 0 if it exited
  double when = 0;    ///< when it was noticed, in seconds on the steady clock; 0 if unknown
  bool told = false;  ///< the launcher had told it to end, because of other workers
  /// Its status is unknown: another part of this process collected its exit code.
  bool unknown = false;

  bool failed() const { return exit_code != 0 || signal != 0 || unknown; }
  /// The shell's exit code: the exit code, or 128 + signal. 1 if unknown.
  int code() const { return unknown ? 1 : signal != 0 ? 128 + signal : exit_code; }
  /// "was ended by signal 9 (Killed)".
  std::string how() const;
  /// "rank 2 (pid 4711 on node7) was ended by signal 9 (Killed)".
  std::string text() const;
};

/// A failure on another host that happened before any on this one.
struct FailureElsewhere {
  int code = 1;
  std::string text;
};

/// How a run ended, as seen from one host.
struct JobResult {
  std::vector<Outcome> outcomes;         ///< in the order in which this host's workers ended
  std::optional<Outcome> first_failure;  ///< the likely cause; others are often its consequences
  std::optional<FailureElsewhere> failure_elsewhere;  ///< takes precedence over first_failure
  int interrupted_by = 0;                             ///< SIGINT, SIGTERM or similar; 0 if none
  /// Last lines of first_failure's output, if the job captured it.
  std::vector<std::string> last_lines;
  std::string run;  ///< see NodeLauncher::run()
  int restart = 0;  ///< how often the run was started before
  /// Problems that did not fail the run: lost output, lost workers of an elastic run.
  std::vector<std::string> warnings;
  int world_size = 0;  ///< ranks on all hosts
  /// After a failure: the last operations of this host's ranks, in rank order. Empty if they could
  /// not be recorded.
  std::vector<comm::FlightLog> flights;

  /// 0 if the run succeeded, else the first failing worker's code.
  int code() const;
};

}  // namespace lockstep::internal::launch
