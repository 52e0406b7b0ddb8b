// The timeline of one iteration, out of a run's trace: a lane a rank and stream.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>

namespace lockstep::report {

struct TimelineLimits {
  std::size_t ranks = 16;   ///< the first so many are shown
  std::size_t spans = 400;  ///< of a lane: beyond that the shortest are left out
};

struct Timeline {
  /// {"iteration", "microseconds", "lanes"}, or null if the trace has no iteration. Moments are
  /// microseconds from the iteration's begin on rank 0.
  nlohmann::json json;
  std::size_t ranks_left_out = 0;
  std::size_t spans_left_out = 0;
};

/// A typical iteration: of those in the file, without the run's first, the one whose time on the
/// lowest rank is the median. Throws FileError.
Timeline read_timeline(const std::filesystem::path& trace, const TimelineLimits& limits);

}  // namespace lockstep::report
