#include "train/latency_probe.h"

#include "base/deadline.h"
#include "comm/purpose.h"
#include "observe/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lockstep::internal::train {

namespace {

constexpr int kParameters = 4;
constexpr std::size_t kBefore = 3, kDuring = 16;  // measurements
constexpr std::size_t kEvery = 8;                 // iterations

/// As many buckets as parameters.
sync::Gradients tiny_gradients(Group& group) {
  std::vector<sync::Parameter> parameters;
  for (int i = 0; i < kParameters; ++i) parameters.push_back({fmt::format("parameter {}", i), 1});
  sync::Layout layout(parameters, DataType::float32, {.first_bytes = 1, .bytes = 1});
  sync::Gradients gradients(group, std::move(parameters), std::move(layout));
  std::memset(gradients.memory().data(), 0, gradients.layout().bytes());
  return gradients;
}

}  // namespace

LatencyProbe::LatencyProbe(Group group, const sync::Method& method) : group_(std::move(group)) {
  if (group_.size() == 1) return;
  gradients_ = tiny_gradients(group_);
  // For methods that distribute the update or average weights, an all-reduce is measured instead.
  method_ = sync::make_sync_method(
      sync::averages_gradients(method.sync) ? method : sync::parse_method("all-reduce", "auto"),
      group_, *gradients_);
  measure();
  measured_.clear();  // the first measurement includes setting up connections
  while (measured_.size() < kBefore) measure();
}

void LatencyProbe::after_iteration(std::size_t iteration) {
  if (method_ && iteration % kEvery == 0 && measured_.size() < kBefore + kDuring) measure();
}

double LatencyProbe::seconds() const {
  return observe::mean(measured_);
}

void LatencyProbe::measure() {
  const comm::PurposeMark mark(comm::Purpose::metrics);
  group_.barrier();  // measurements begin when all ranks have arrived
  const Counters before = group_.counters();
  const double start = now_seconds();
  for (std::size_t parameter = kParameters; parameter > 0; --parameter)
    method_->ready(parameter - 1);
  method_->finish();
  const double seconds = now_seconds() - start;
  const std::uint64_t operations = group_.counters().operations - before.operations;
  measured_.push_back(seconds / static_cast<double>(std::max<std::uint64_t>(1, operations)));
}

}  // namespace lockstep::internal::train
