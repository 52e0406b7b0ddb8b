// OperationTrace: during its lifetime, every torch operation on this thread, forward and backward,
// is written to a trace with its begin and end.
#pragma once

#include "observe/trace.h"

#include <ATen/record_function.h>

namespace lockstep::internal::engine {

/// Thread safety: one per thread; must be destroyed by the thread that constructed it.
class OperationTrace {
 public:
  /// REQUIRES: the trace outlives this object.
  explicit OperationTrace(observe::Trace& trace);
  ~OperationTrace();
  OperationTrace(const OperationTrace&) = delete;
  OperationTrace& operator=(const OperationTrace&) = delete;

 private:
  at::CallbackHandle handle_;
};

}  // namespace lockstep::internal::engine
