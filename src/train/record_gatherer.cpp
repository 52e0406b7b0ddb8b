#include "train/record_gatherer.h"

#include "base/deadline.h"
#include "train/policy/interval.h"

#include <algorithm>
#include <type_traits>

namespace lockstep::internal::train {

namespace {

constexpr double kSecondsBetweenFlushes = 1;

}  // namespace

static_assert(std::is_trivially_copyable_v<run::Record> &&
              sizeof(run::Record) % sizeof(double) == 0);

void set_waiting(std::span<run::Record* const> ranks) {
  double last = 0;
  for (const run::Record* record : ranks) last = std::max(last, record->arrived);
  for (run::Record* record : ranks)
    record->times.wait = std::clamp(last - record->arrived, 0.0, record->times.exposed);
}

void RecordGatherer::add(const run::Record& record) {
  const observe::Times& times = record.times;
  const double end = now_seconds();
  if (met_ == 0) met_ = end - times.total;  // all ranks begin the first iteration together
  records_.push_back(record);
  records_.back().arrived = end - times.optimizer - times.exposed - met_;
  slowest_ = std::max(slowest_, record.times.total);
  if (--left_ > 0) return;
  flush();
  std::vector<double> slowest{slowest_};
  group_.all_reduce(slowest, ReduceOp::max);
  met_ = now_seconds();  // often enough for clocks of hosts that run at different rates
  left_ = steps_within(kSecondsBetweenFlushes, slowest[0]);
  slowest_ = 0;
}

void RecordGatherer::flush() {
  constexpr std::size_t kDoubles = sizeof(run::Record) / sizeof(double);
  const std::size_t count = records_.size();
  const std::size_t ranks = group_.rank() == 0 ? static_cast<std::size_t>(group_.size()) : 0;
  std::vector<run::Record> all(ranks * count);
  group_.gather(ConstArrayView(records_.data(), count * kDoubles, DataType::float64),
                ArrayView(all.data(), all.size() * kDoubles, DataType::float64));
  for (std::size_t i = 0; synchronous_ && i < count * (ranks > 0); ++i) {
    std::vector<run::Record*> iteration;
    for (std::size_t rank = 0; rank < ranks; ++rank) iteration.push_back(&all[rank * count + i]);
    set_waiting(iteration);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank)
    sink_(static_cast<int>(rank), std::span(all).subspan(rank * count, count));
  records_.clear();
}

}  // namespace lockstep::internal::train
