// Traces of all ranks as one file in Chrome's trace event format, which https://ui.perfetto.dev and
// chrome://tracing show: a process a rank, with one row for training, one for communication.
//
// Every rank writes its own events as text; the file is all of them put together.
#pragma once

#include "observe/clock_offset.h"
#include "observe/trace.h"

#include <span>
#include <string>

namespace lockstep::observe {

struct TraceOrigin {
  int rank = 0;
  std::string host;
  double shift = 0;          ///< seconds to add to this rank's clock, to have the trace's
  std::size_t left_out = 0;  ///< events that it had no room for
};

/// One rank's events, the names of its rows first; events are separated by commas.
std::string chrome_events(std::span<const TraceEvent> events, const TraceOrigin& origin);

/// The whole file. Ranks without events may have an empty text. `clocks` says how far each rank's
/// clock was from the trace's, and how well that is known.
std::string chrome_trace(std::span<const std::string> events_by_rank,
                         std::span<const ClockOffset> clocks = {});

}  // namespace lockstep::observe
