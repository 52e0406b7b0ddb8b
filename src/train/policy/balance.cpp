#include "train/policy/balance.h"

#include "comm/purpose.h"

#include <algorithm>

namespace lockstep::internal::train {

namespace {

constexpr std::size_t kFirstPeriod = 5;
constexpr std::size_t kLongestPeriod = 80;

/// Fraction of the slowest worker's time that a change must save: less may be noise, and a slice of
/// a new size has a one-time cost.
constexpr double kWorthIt = 0.03;

}  // namespace

Balance::Balance(Group group, std::size_t batch)
    : group_(std::move(group)), batch_(batch), period_(kFirstPeriod), left_(kFirstPeriod) {
  for (int rank = 0; rank < group_.size(); ++rank)
    split_.push_back(data::slice_of(batch, rank, group_.size()).size());
}

void Balance::measure(const run::Record& record) {
  if (record.samples == 0 || seen_.insert(record.samples).second) return;
  images_ += record.samples;
  seconds_ += record.times.forward + record.times.backward;
}

std::optional<BatchSplit> Balance::after_step(const run::Record& record) {
  const comm::PurposeMark mark(comm::Purpose::votes);
  measure(record);
  if (--left_ > 0) return std::nullopt;
  period_ = std::min(2 * period_, kLongestPeriod);
  left_ = period_;
  std::vector<double> speed{seconds_ > 0 ? images_ / seconds_ : 0};
  std::vector<double> speeds(split_.size());
  images_ = seconds_ = 0;
  group_.all_gather(speed, speeds);
  if (*std::min_element(speeds.begin(), speeds.end()) <= 0) return std::nullopt;  // too few steps
  BatchSplit better = split_by_speed(speeds, batch_);
  if (seconds_of(better, speeds) > (1 - kWorthIt) * seconds_of(split_, speeds)) return std::nullopt;
  split_ = better;
  return better;
}

}  // namespace lockstep::internal::train
