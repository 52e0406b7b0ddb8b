// StepTrace: what a trace shows of a step beside its parts: when each gradient and each bucket was
// ready, and the operations of the group, each bucket's with its number.
#pragma once

#include <lockstep/group.h>

#include "observe/trace.h"
#include "sync/gradients.h"

#include <atomic>
#include <vector>

namespace lockstep::train {

class StepTrace {
 public:
  /// The gradients must outlive it. `in_buckets` says whether the sync method reduces them bucket
  /// by bucket, in order and before any other collective of a step.
  StepTrace(const sync::Gradients& gradients, bool in_buckets);

  /// Where to write; null for nowhere. Not while a step goes on.
  void record_in(observe::Trace* trace) { trace_ = trace; }
  observe::Trace* trace() const { return trace_; }

  void begin_step();
  void gradient_ready(std::size_t parameter);
  /// Any thread. REQUIRES: trace() is not null.
  void operation_ended(const ObservedOperation& operation);
  /// The same for one that a layer waits for, within forward or backward.
  void layer_operation_ended(const ObservedOperation& operation);

 private:
  std::size_t bytes_of(std::size_t elements) const;

  const sync::Gradients& gradients_;
  std::vector<std::size_t> bucket_of_;   ///< by parameter; empty if there are no buckets
  std::vector<std::size_t> missing_;     ///< by bucket: gradients that are not ready yet
  std::atomic<std::size_t> reduced_{0};  ///< buckets of this step
  observe::Trace* trace_ = nullptr;
};

}  // namespace lockstep::train
