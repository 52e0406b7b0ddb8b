// How workers, and a run as a whole, ended.
#pragma once

#include "comm/flight/flight_log.h"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace lockstep::launch {

/// A worker process.
struct Worker {
  int rank = 0;
  pid_t pid = 0;
  std::string host{};  ///< where it runs; empty if there is only one host to think of
};

/// How a worker ended.
struct Outcome : Worker {
  int exit_code = 0;
  int signal = 0;     ///< that ended it; 0 if it exited
  double when = 0;    ///< it was noticed, in seconds on the steady clock; 0 if that is not known
  bool told = false;  ///< the launcher had told it to end, because of others
  /// How it ended is not known: something else in this process collected its exit code.
  bool unknown = false;

  bool failed() const { return exit_code != 0 || signal != 0 || unknown; }
  /// What a shell would report: the exit code, or 128 + signal. 1 if that is not known.
  int code() const { return unknown ? 1 : signal != 0 ? 128 + signal : exit_code; }
  /// "was ended by signal 9 (Killed)".
  std::string how() const;
  /// "rank 2 (pid 4711 on node7) was ended by signal 9 (Killed)".
  std::string text() const;
};

/// A failure on another host that came before any on this one.
struct FailureElsewhere {
  int code = 1;
  std::string text;
};

/// How a run ended, seen from one host.
struct JobResult {
  std::vector<Outcome> outcomes;         ///< in the order in which this host's workers ended
  std::optional<Outcome> first_failure;  ///< the one to look at; others are often its consequences
  std::optional<FailureElsewhere> failure_elsewhere;  ///< goes before first_failure
  int interrupted_by = 0;                             ///< SIGINT, SIGTERM or the like, if one came
  std::vector<std::string> last_lines;  ///< of first_failure's output, if the job captured it
  std::string run;                      ///< see Site::run()
  int restart = 0;                      ///< how often the run was started before
  /// What went wrong all the same: output that was lost, workers that an elastic run did without.
  std::vector<std::string> warnings;
  int world_size = 0;  ///< ranks on all hosts
  /// After a failure: the last operations of this host's ranks, in the order of their ranks. None
  /// if they could not be kept.
  std::vector<comm::FlightLog> flights;

  /// 0 if all went well, else the first failing worker's code.
  int code() const;
};

}  // namespace lockstep::launch
