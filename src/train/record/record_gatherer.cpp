#include "train/record/record_gatherer.h"

#include "comm/purpose.h"
#include "train/policy/interval.h"

#include <algorithm>
#include <type_traits>

namespace lockstep::internal::train {

namespace {

constexpr double kSecondsBetweenFlushes = 1;

}  // namespace

static_assert(std::is_trivially_copyable_v<run::Record> &&
              sizeof(run::Record) % sizeof(double) == 0);

double last_arrival(std::span<run::Record* const> ranks) {
  double last = ranks.front()->arrived;
  for (const run::Record* record : ranks) last = std::max(last, record->arrived);
  return last;
}

void add_waiting(std::span<run::Record* const> ranks, double last) {
  for (run::Record* record : ranks) {
    observe::Times& times = record->times;
    times.wait = std::clamp(times.wait + std::max(0.0, last - record->arrived), 0.0, times.exposed);
  }
}

void RecordGatherer::add(const run::Record& record) {
  const comm::PurposeMark mark(comm::Purpose::metrics);
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
  const comm::PurposeMark mark(comm::Purpose::metrics);
  constexpr std::size_t kDoubles = sizeof(run::Record) / sizeof(double);
  const std::size_t count = records_.size();
  const std::size_t ranks = group_.rank() == 0 ? static_cast<std::size_t>(group_.size()) : 0;
  std::vector<run::Record> all(ranks * count);
  group_.gather(ConstArrayView(records_.data(), count * kDoubles, DataType::float64),
                ArrayView(all.data(), all.size() * kDoubles, DataType::float64));
  for (std::size_t i = 0; i < all.size() / std::max<std::size_t>(1, ranks); ++i) {
    std::vector<run::Record*> iteration;
    for (std::size_t rank = 0; rank < ranks; ++rank) iteration.push_back(&all[rank * count + i]);
    arrivals_.push_back(last_arrival(iteration));
    if (arrivals_.size() <= lead_) continue;
    add_waiting(iteration, arrivals_.front());
    arrivals_.pop_front();
  }
  for (std::size_t rank = 0; rank < ranks; ++rank)
    sink_(static_cast<int>(rank), std::span(all).subspan(rank * count, count));
  records_.clear();
}

}  // namespace lockstep::internal::train
