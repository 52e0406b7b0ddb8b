#include <lockstep/error.h>
#include <lockstep/join.h>

#include "ddp/participation.h"

#include <algorithm>

namespace lockstep {

using namespace internal;

Join::Join(DistributedDataParallel& ddp, const JoinOptions& options)
    : ddp_(ddp), options_(options) {
  if (ddp_.participation().joining)
    throw UsageError("this DistributedDataParallel has a Join already: use one at a time");
  ddp_.participation().joining = true;
}

Join::~Join() {
  ddp_.participation() = {};
}

bool Join::next(std::size_t samples) {
  ddp_.catch_up();  // the other ranks may wait for the rest of a backward that threw
  Group& group = ddp_.group();
  samples_ = samples;
  std::vector<std::int64_t> mine{static_cast<std::int64_t>(samples)};
  std::vector<std::int64_t> all(static_cast<std::size_t>(group.size()));
  group.all_gather(mine, all);
  const auto has_batch = [](std::int64_t count) { return count > 0; };
  ranks_ = static_cast<int>(std::count_if(all.begin(), all.end(), has_batch));
  all_samples_ = 0;
  for (std::int64_t count : all) all_samples_ += static_cast<double>(count);
  const auto first = std::find_if(all.begin(), all.end(), has_batch);
  if (ranks_ == 0) return false;
  ddp_.participation() = {{.joining = true,
                           .has_batch = samples > 0,
                           .scale = options_.divide_by_all ? 1.0 : group.size() * 1.0 / ranks_,
                           .first = static_cast<int>(first - all.begin())}};
  return true;
}

double Join::factor() const {
  return all_samples_ == 0 ? 0 : static_cast<double>(samples_) * ranks_ / all_samples_;
}

}  // namespace lockstep
