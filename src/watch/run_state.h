// The state of a run as its folder has it at this moment: whether it runs, how far it came, how
// fast it is, and what each rank does.
#pragma once

#include "base/file_lines.h"
#include "run/fields.h"
#include "run/metrics_line.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <string>

namespace lockstep::internal::watch {

/// The recent iterations of one rank.
class RankProgress {
 public:
  /// REQUIRES: a line of an iteration. `written` is when it was written, in seconds of
  /// now_seconds().
  void add(const run::MetricsLine& line, double written);

  const run::MetricsLine& last() const { return last_; }
  double written() const { return written_; }

  struct Recent {
    double seconds_per_iteration = 0;
    double images_per_second = 0;
    double waiting = 0;  ///< fraction of the time spent waiting for other ranks
  };
  /// Over about the last ten seconds of iterations.
  Recent recent() const;

 private:
  struct Iteration {
    double seconds;
    double waited;
    double images;
  };

  run::MetricsLine last_;
  double written_ = 0;
  std::deque<Iteration> recent_;
  double seconds_ = 0;  ///< of `recent_`
};

/// Follows the folder of one run. The folder may change, or vanish, at any time.
class FollowedRun {
 public:
  explicit FollowedRun(std::filesystem::path folder);

  /// Reads what has changed since the last call. A damaged file counts as empty.
  void refresh();

  /// Grows whenever refresh() finds a change of the files or of the state.
  std::uint64_t version() const { return version_; }

  const std::filesystem::path& folder() const { return folder_; }
  /// "running", "ended", "failed" or "stopped".
  const std::string& state() const { return state_; }
  /// When the run, or its last start, began.
  std::filesystem::file_time_type started() const { return stamps_[0]; }
  /// The command that started the run, or the study that it belongs to.
  std::string command() const;

  /// The values that lists show. docs/watch.md describes them.
  nlohmann::json to_json() const;
  /// The state of each rank.
  nlohmann::json ranks_json() const;

 private:
  /// Times of the last change of config.json, summary.json and so on.
  using Stamps = std::array<std::filesystem::file_time_type, 4>;

  Stamps find_stamps() const;
  std::string find_state() const;
  void read_files();
  bool read_metrics();
  /// Whether the rank takes part now: those that an elastic run has lost do not.
  bool takes_part(const RankProgress& rank) const;
  void add_progress(nlohmann::json& json) const;

  const std::filesystem::path folder_;
  FollowedLines lines_;
  std::map<int, RankProgress> ranks_;
  std::map<int, std::string> endings_;  ///< of ranks, from the post-mortem
  run::Fields config_;
  run::Fields summary_;
  std::string why_;  ///< why the run failed or ended early
  std::string state_;
  Stamps stamps_{};
  std::uint64_t version_ = 0;
};

}  // namespace lockstep::internal::watch
