// The events in a run folder's trace.json, one at a time. The file is in Chrome's trace event
// format, as observe/chrome_trace.h writes it: one event a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace lockstep::report {

/// Moments and lengths are microseconds on the trace's clock.
struct TraceFileEvent {
  std::string name;
  std::string kind;  ///< "iteration", "part", "operation", "collective", "message", "gradient"
  char phase = 'X';  ///< X: whole; b, e: begin and end of what may overlap; i: a moment
  int rank = 0;
  int row = 0;  ///< 0: training, 1: communication
  double start = 0;
  double length = 0;  ///< of a whole one
  std::string id;     ///< that begin and end have in common
  double bytes = 0;
  double wait = 0;
  std::string detail;           ///< a collective's algorithm, a message's peer
  std::int64_t iteration = -1;  ///< of an iteration: which
  std::int64_t parameter = -1;  ///< of a gradient: whose
};

/// Calls `take` with each event but for names of rows; with iterations only if `iterations_only`,
/// which is much faster. Throws FileError that names a line that is not as Lockstep writes it.
void for_each_event(const std::filesystem::path& file, bool iterations_only,
                    const std::function<void(const TraceFileEvent&)>& take);

}  // namespace lockstep::report
