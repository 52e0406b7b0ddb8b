// Writing and reading trace.json: the events of a run's first iterations in Chrome's trace event
// format, one event per line. https://ui.perfetto.dev and chrome://tracing show each rank as a
// process with one row for training and one for communication.
//
// Every rank formats its own events; rank 0 joins the texts to one file.
#pragma once

#include "observe/clock_offset.h"
#include "observe/trace.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace lockstep::internal::run {

struct TraceOrigin {
  int rank = 0;
  std::string host;
  double shift = 0;          ///< seconds, added to this rank's clock gives the trace's clock
  std::size_t left_out = 0;  ///< events beyond the capacity of the rank's trace
};

/// The events of one rank, separated by commas. The names of its rows come first.
std::string chrome_events(std::span<const observe::TraceEvent> events, const TraceOrigin& origin);

/// The content of the file. The text of a rank without events may be empty. `clocks` are the
/// offsets of the ranks' clocks to the trace's clock.
std::string chrome_trace(std::span<const std::string> events_by_rank,
                         std::span<const observe::ClockOffset> clocks = {});

/// An event in the file. Times are microseconds on the trace's clock.
struct TraceFileEvent {
  std::string name;
  std::string kind;  ///< "iteration", "part", "operation", "collective", "message", "gradient"
  char phase = 'X';  ///< X: complete; b, e: begin and end of an event that may overlap; i: instant
  int rank = 0;
  int row = 0;  ///< 0: training, 1: communication
  double start = 0;
  double length = 0;  ///< only of phase X
  std::string id;     ///< equal for the begin and the end of an event
  double bytes = 0;
  double wait = 0;
  std::string detail;           ///< a collective's algorithm, a message's peer
  std::int64_t iteration = -1;  ///< number of an iteration
  std::int64_t parameter = -1;  ///< parameter of a gradient
};

/// Calls `take` with each event except the names of rows. With `iterations_only` it skips
/// everything except iterations, which is much faster. Throws FileError with the number of a
/// malformed line.
void for_each_event(const std::filesystem::path& file, bool iterations_only,
                    const std::function<void(const TraceFileEvent&)>& take);

}  // namespace lockstep::internal::run
