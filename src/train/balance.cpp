#include "train/balance.h"

#include <algorithm>

namespace lockstep::train {

namespace {

constexpr std::size_t kFirstRow = 5;
constexpr std::size_t kLongestRow = 80;

/// What a change must save of the slowest worker's time: less is as likely to be chance, and a
/// share of a size that is new costs something once.
constexpr double kWorthIt = 0.03;

}  // namespace

Balance::Balance(Group group, std::size_t batch)
    : group_(std::move(group)), batch_(batch), row_(kFirstRow), left_(kFirstRow) {
  for (int rank = 0; rank < group_.size(); ++rank)
    division_.push_back(data::share(batch, rank, group_.size()).size());
}

void Balance::measure(const Record& record) {
  if (record.samples == 0 || seen_.insert(record.samples).second) return;
  images_ += record.samples;
  seconds_ += record.times.forward + record.times.backward;
}

std::optional<Division> Balance::after_step(const Record& record) {
  measure(record);
  if (--left_ > 0) return std::nullopt;
  row_ = std::min(2 * row_, kLongestRow);
  left_ = row_;
  std::vector<double> speed{seconds_ > 0 ? images_ / seconds_ : 0};
  std::vector<double> speeds(division_.size());
  images_ = seconds_ = 0;
  group_.all_gather(speed, speeds);
  if (*std::min_element(speeds.begin(), speeds.end()) <= 0) return std::nullopt;  // too few steps
  Division better = divide_by_speed(speeds, batch_);
  if (seconds_of(better, speeds) > (1 - kWorthIt) * seconds_of(division_, speeds))
    return std::nullopt;
  division_ = better;
  return better;
}

}  // namespace lockstep::train
