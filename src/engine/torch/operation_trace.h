// OperationTrace: while it lives, every operation that torch runs on this thread, forward and
// backward, is written to a trace with its begin and end.
#pragma once

#include "observe/trace.h"

#include <ATen/record_function.h>

namespace lockstep::engine {

/// One at a time on a thread; must end on the thread that made it.
class OperationTrace {
 public:
  /// The trace must outlive it.
  explicit OperationTrace(observe::Trace& trace);
  ~OperationTrace();
  OperationTrace(const OperationTrace&) = delete;
  OperationTrace& operator=(const OperationTrace&) = delete;

 private:
  at::CallbackHandle handle_;
};

}  // namespace lockstep::engine
