// PostMortem: who died or stalled, in which operation and step, and who waited for whom: from how a
// run's workers ended and from the last operations that their flight recorders have. Nothing in
// these is trusted to make sense, but for its types.
#pragma once

#include "launch/outcome.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace lockstep::observe {

/// How it comes that a run failed.
enum class Cause {
  died,     ///< a rank was ended by a signal
  failed,   ///< a rank ended with an error of its own
  left,     ///< a rank ended well, though others still needed it
  stalled,  ///< a rank lives, but did not come to where others waited for it
  unclear,  ///< no rank of this host stands out
};

/// "died".
std::string_view name_of(Cause cause);

/// One rank's end.
struct LastMoments {
  comm::FlightLog log;
  std::optional<launch::Outcome> outcome{};
  /// What it was in when it ended: an operation that had not ended, or that failed.
  std::optional<comm::FlightRecord> within{};
  std::optional<comm::FlightRecord> last{};  ///< the newest that ended well
  std::vector<int> waited_for{};             ///< in `within`; empty if it waited for nobody
  double waited = 0;                         ///< seconds

  int rank() const { return log.rank; }
  /// "rank 2 (pid 4711)".
  std::string who() const;
};

struct PostMortem {
  Cause cause = Cause::unclear;
  std::vector<int> culprits{};       ///< ranks, the first one first
  std::vector<LastMoments> ranks{};  ///< of this host
  std::vector<int> elsewhere{};      ///< ranks of other hosts, of which nothing is known here
  /// On the steady clock: when the culprit died, gave its last sign of life, or others noticed.
  double moment = 0;

  /// Null for a rank of another host.
  const LastMoments* find(int rank) const;
  /// A few lines for people.
  std::vector<std::string> verdict() const;
  /// postmortem.json; docs/files.md has what is in it.
  nlohmann::json to_json() const;
};

/// Nothing if no rank's recorder has anything to tell: there was no run to speak of, or ranks ended
/// with errors of their own, which they have told, and kept nobody waiting.
std::optional<PostMortem> examine(const launch::JobResult& result);

/// "all_reduce #34 of bucket 1 (4.0 MB)", "recv of 4.0 kB from rank 2".
std::string in_words(const comm::FlightRecord& operation);

}  // namespace lockstep::observe
