// PostMortem: which rank died or stalled, in which operation and step, and which ranks waited for
// it. It is derived from the exit statuses of the workers and from the last operations in their
// flight recorders. A recorder may hold arbitrary values of the right types.
#pragma once

#include "launch/process/outcome.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::observe {

/// Why a run failed.
enum class Cause {
  died,     ///< a rank was killed by a signal
  failed,   ///< a rank exited with its own error
  left,     ///< a rank exited successfully while others still needed it
  stalled,  ///< a rank is alive, but did not reach an operation that others waited in
  unclear,  ///< no rank of this host can be identified as the cause
};

/// The name used in files: "died".
std::string_view name_of(Cause cause);

/// What is known of one rank at the end of the run.
struct FinalState {
  comm::FlightLog log;
  std::optional<launch::Outcome> outcome{};
  std::optional<comm::FlightRecord> within{};  ///< the operation that had not ended, or failed
  std::optional<comm::FlightRecord> last{};    ///< the newest operation that succeeded
  std::vector<int> waited_for{};               ///< ranks that it waited for in `within`
  double waited = 0;                           ///< seconds it waited for them; 0 if not known

  int rank() const { return log.rank; }
  /// "rank 2 (pid 4711)".
  std::string who() const;
};

struct PostMortem {
  Cause cause = Cause::unclear;
  std::vector<int> culprits{};      ///< ranks that caused the failure, ordered by time
  std::vector<FinalState> ranks{};  ///< ranks of this host
  std::vector<int> elsewhere{};     ///< ranks of other hosts, of which nothing is known here
  /// Time of the failure on the steady clock: when the culprit ended or did something for the last
  /// time. If neither is known, when the first operation failed.
  double moment = 0;

  /// Null for a rank of another host.
  const FinalState* find(int rank) const;
  /// The findings as a few lines of text.
  std::vector<std::string> verdict() const;
};

/// Empty if there is nothing to add to the workers' own messages: no recorder has an operation, or
/// ranks exited with their own errors and no other rank waited for them.
std::optional<PostMortem> examine(const launch::JobResult& result);

/// "all_reduce #34 of bucket 1 (4.0 MB)", "recv of 4.0 kB from rank 2".
std::string in_words(const comm::FlightRecord& operation);

}  // namespace lockstep::internal::observe
