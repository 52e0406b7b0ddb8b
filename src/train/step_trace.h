// StepTrace: the events of a step in a trace: when each gradient and each bucket was ready, and the
// operations of the group, numbered by bucket.
#pragma once

#include <lockstep/group.h>

#include "observe/trace.h"
#include "sync/gradients.h"

#include <atomic>
#include <vector>

namespace lockstep::internal::train {

class StepTrace {
 public:
  /// The gradients must outlive it. `in_buckets`: the sync method reduces bucket by bucket, in
  /// order and before any other collective of a step.
  StepTrace(const sync::Gradients& gradients, bool in_buckets);

  /// Sets the trace to write to; null for none. REQUIRES: no step is in progress.
  void record_in(observe::Trace* trace) { trace_ = trace; }
  observe::Trace* trace() const { return trace_; }

  void begin_step();
  void gradient_ready(std::size_t parameter);
  /// An operation on gradients has ended. Any thread may call it. REQUIRES: trace() is not null.
  void operation_ended(const ObservedOperation& operation);
  /// The same for an operation of a layer, which forward or backward waited for.
  void layer_operation_ended(const ObservedOperation& operation);

 private:
  std::size_t bytes_of(std::size_t elements) const;

  const sync::Gradients& gradients_;
  std::vector<std::size_t> bucket_of_;   ///< by parameter; empty if there are no buckets
  std::vector<std::size_t> missing_;     ///< by bucket: gradients that are not ready yet
  std::atomic<std::size_t> reduced_{0};  ///< buckets reduced in this step
  observe::Trace* trace_ = nullptr;
};

}  // namespace lockstep::internal::train
