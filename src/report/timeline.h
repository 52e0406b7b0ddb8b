// The timeline of one iteration from a run's trace, with a lane for each rank and stream.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>

namespace lockstep::internal::report {

struct TimelineLimits {
  std::size_t ranks = 16;   ///< only the first ranks are shown
  std::size_t spans = 400;  ///< per lane; the shortest beyond that are left out
};

struct Timeline {
  /// {"iteration", "microseconds", "lanes"}, or null if the trace has no iteration. Times are
  /// microseconds since the start of the iteration on rank 0.
  nlohmann::json json;
  std::size_t ranks_left_out = 0;
  std::size_t spans_left_out = 0;
};

/// Reads a typical iteration: the one with the median time on the lowest rank, without the run's
/// first iteration. Throws FileError.
Timeline read_timeline(const std::filesystem::path& trace, const TimelineLimits& limits);

}  // namespace lockstep::internal::report
