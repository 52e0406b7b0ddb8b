#include "train/policy/stop_vote.h"

#include "comm/purpose.h"
#include "train/policy/interval.h"

#include <algorithm>
#include <vector>

namespace lockstep::internal::train {

namespace {

constexpr double kSecondsBetweenVotes = 0.05;

}  // namespace

StopVote::StopVote(Group group, std::function<bool()> asked)
    : group_(std::move(group)), asked_(std::move(asked)) {}

bool StopVote::after_step(double seconds) {
  const comm::PurposeMark mark(comm::Purpose::votes);
  if (!asked_) return false;
  if (group_.size() == 1) return asked_();
  slowest_ = std::max(slowest_, seconds);
  if (--steps_left_ > 0) return false;
  std::vector<double> vote{asked_() ? 1.0 : 0.0, slowest_};
  group_.all_reduce(vote, ReduceOp::max);
  steps_left_ = steps_within(kSecondsBetweenVotes, vote[1]);
  slowest_ = 0;
  return vote[0] > 0;
}

}  // namespace lockstep::internal::train
