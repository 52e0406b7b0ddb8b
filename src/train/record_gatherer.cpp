#include "train/record_gatherer.h"

#include "train/policy/interval.h"

#include <algorithm>
#include <type_traits>

namespace lockstep::internal::train {

namespace {

constexpr double kSecondsBetweenFlushes = 1;

}  // namespace

static_assert(std::is_trivially_copyable_v<run::Record> &&
              sizeof(run::Record) % sizeof(double) == 0);

void RecordGatherer::add(const run::Record& record) {
  records_.push_back(record);
  slowest_ = std::max(slowest_, record.times.total);
  if (--left_ > 0) return;
  flush();
  std::vector<double> slowest{slowest_};
  group_.all_reduce(slowest, ReduceOp::max);
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
  for (std::size_t rank = 0; rank < ranks; ++rank)
    sink_(static_cast<int>(rank), std::span(all).subspan(rank * count, count));
  records_.clear();
}

}  // namespace lockstep::internal::train
