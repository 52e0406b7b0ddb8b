#include "train/step_trace.h"

#include <fmt/format.h>

namespace lockstep::internal::train {

using observe::EventKind;

StepTrace::StepTrace(const sync::Gradients& gradients, bool in_buckets) : gradients_(gradients) {
  if (!in_buckets) return;
  const auto& buckets = gradients_.layout().buckets();
  bucket_of_.resize(gradients_.parameters().size());
  missing_.resize(buckets.size());
  reduced_ = buckets.size();  // operations before the first step belong to no bucket
  for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket)
    for (std::size_t parameter : buckets[bucket].parameters) bucket_of_[parameter] = bucket;
}

std::size_t StepTrace::bytes_of(std::size_t elements) const {
  return elements * size_of(gradients_.layout().type());
}

void StepTrace::begin_step() {
  if (!trace_) return;
  for (std::size_t bucket = 0; bucket < missing_.size(); ++bucket)
    missing_[bucket] = gradients_.layout().buckets()[bucket].parameters.size();
  reduced_ = 0;
}

void StepTrace::gradient_ready(std::size_t parameter) {
  if (!trace_) return;
  const double now = now_seconds();
  const sync::Parameter& its = gradients_.parameters()[parameter];
  trace_->add({.kind = EventKind::gradient,
               .name = its.name,
               .begin = now,
               .end = now,
               .bytes = bytes_of(its.count),
               .number = static_cast<std::int64_t>(parameter)});
  if (bucket_of_.empty()) return;
  const std::size_t bucket = bucket_of_[parameter];
  if (--missing_[bucket] > 0) return;
  trace_->add({.kind = EventKind::bucket,
               .name = fmt::format("bucket {} ready", bucket),
               .begin = now,
               .end = now,
               .bytes = bytes_of(gradients_.layout().buckets()[bucket].slot.count),
               .number = static_cast<std::int64_t>(bucket)});
}

void StepTrace::operation_ended(const ObservedOperation& operation) {
  const bool message = operation.peer >= 0;
  std::int64_t number = operation.peer;
  if (!message) {
    const std::size_t place = reduced_++;
    number = place < missing_.size() ? static_cast<std::int64_t>(place) : -1;
  }
  trace_->add({.kind = message ? EventKind::message : EventKind::collective,
               .name = operation.name,
               .begin = operation.begin,
               .end = operation.end,
               .bytes = operation.bytes,
               .number = number,
               .wait = operation.wait,
               .detail = name_of(operation.algorithm)});
}

void StepTrace::layer_operation_ended(const ObservedOperation& operation) {
  trace_->add({.kind = EventKind::operation,
               .name = fmt::format("{} of batch norm", operation.name),
               .begin = operation.begin,
               .end = operation.end});
}

}  // namespace lockstep::internal::train
