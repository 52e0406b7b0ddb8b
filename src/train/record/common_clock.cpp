#include "train/record/common_clock.h"

#include "comm/purpose.h"
#include "train/policy/interval.h"

#include <algorithm>
#include <utility>

namespace lockstep::internal::train {

namespace {

/// Clocks drift by at most about 50 µs per second: less than a millisecond until the next.
constexpr double kSecondsBetweenMeasurements = 15;

}  // namespace

CommonClock::CommonClock(Group group, std::string identity, std::function<double()> clock)
    : group_(std::move(group)),
      identity_(std::move(identity)),
      clock_(std::move(clock)),
      offset_(observe::offset_to_rank_zero(group_, identity_, clock_)) {
  std::vector<double> uncertainty{offset_.uncertainty};  // 0 on the host of rank 0
  group_.all_reduce(uncertainty, ReduceOp::max);
  one_host_ = uncertainty[0] == 0;
}

void CommonClock::after_step(double seconds) {
  if (one_host_) return;
  const comm::PurposeMark mark(comm::Purpose::metrics);
  slowest_ = std::max(slowest_, seconds);
  if (--left_ > 0) return;
  std::vector<double> slowest{slowest_};
  group_.all_reduce(slowest, ReduceOp::max);
  left_ = steps_within(kSecondsBetweenMeasurements, slowest[0]);
  slowest_ = 0;
  offset_ = observe::offset_to_rank_zero(group_, identity_, clock_);
}

}  // namespace lockstep::internal::train
