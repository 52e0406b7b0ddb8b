// RunTrace: the trace of the first iterations of a run, on all ranks.
#pragma once

#include <lockstep/group.h>

#include "observe/trace.h"
#include "train/replica.h"

#include <cstddef>
#include <optional>
#include <string>

namespace lockstep::internal::train {

class RunTrace {
 public:
  /// Records the next `iterations`. The replica must outlive it.
  RunTrace(Group group, Replica& replica, std::size_t iterations);
  ~RunTrace();
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;

  /// Called after each iteration. Returns true after the last recorded one: collect() should follow
  /// at once, before the ranks' clocks drift apart.
  bool iteration_ended();

  /// Whether the next iteration will be recorded.
  bool recording() const { return left_ > 0; }

  /// Whether there is anything to collect.
  bool uncollected() const { return trace_.has_value(); }

  /// Ends the recording. Returns the content of trace.json on rank 0, with the events of all ranks
  /// on rank 0's clock, counted from the first event; empty on other ranks. A collective. REQUIRES:
  /// uncollected().
  std::string collect();

 private:
  Group group_;
  Replica& replica_;
  std::optional<observe::Trace> trace_;
  std::size_t left_;
};

}  // namespace lockstep::internal::train
