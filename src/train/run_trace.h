// RunTrace: the trace of a run's first iterations, from all ranks.
#pragma once

#include <lockstep/group.h>

#include "observe/trace.h"
#include "train/replica.h"

#include <cstddef>
#include <string>

namespace lockstep::train {

class RunTrace {
 public:
  /// The replica must outlive it. It records so many iterations, from the next one on.
  RunTrace(Group group, Replica& replica, std::size_t iterations);
  ~RunTrace();
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;

  /// Called after each iteration.
  void iteration_ended();

  /// On rank 0 the text of the file that has all ranks' events, on rank 0's clock from the first of
  /// them on; empty elsewhere, and where nothing was traced. Ends the recording. A collective.
  std::string collect();

 private:
  Group group_;
  Replica& replica_;
  observe::Trace trace_;
  std::size_t left_;
  const bool wanted_;
};

}  // namespace lockstep::train
