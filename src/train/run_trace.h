// RunTrace: the trace of a run's first iterations, from all ranks.
#pragma once

#include <lockstep/group.h>

#include "observe/trace.h"
#include "train/replica.h"

#include <cstddef>
#include <optional>
#include <string>

namespace lockstep::train {

class RunTrace {
 public:
  /// The replica must outlive it. It records so many iterations, from the next one on.
  RunTrace(Group group, Replica& replica, std::size_t iterations);
  ~RunTrace();
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;

  /// Called after each iteration. True after the last that is recorded: the time to collect, before
  /// the ranks' clocks drift apart.
  bool iteration_ended();

  /// Whether the next iteration will be recorded.
  bool recording() const { return left_ > 0; }

  /// Whether there is anything to collect.
  bool uncollected() const { return trace_.has_value(); }

  /// On rank 0 the text of the file that has all ranks' events, on rank 0's clock from the first of
  /// them on; empty elsewhere. Ends the recording. A collective. REQUIRES: uncollected().
  std::string collect();

 private:
  Group group_;
  Replica& replica_;
  std::optional<observe::Trace> trace_;
  std::size_t left_;
};

}  // namespace lockstep::train
