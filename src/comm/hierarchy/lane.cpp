#include "comm/hierarchy/lane.h"

#include <algorithm>

namespace lockstep::internal::comm {

Lane::Lane(Transport& whole, std::vector<int> ranks) : whole_(whole), ranks_(std::move(ranks)) {
  const Membership& all = whole.membership();
  membership_.group = all.group + " (lane)";
  for (int rank : ranks_) {
    if (rank == all.rank) membership_.rank = membership_.size();
    membership_.members.push_back(all.members[static_cast<std::size_t>(rank)]);
    membership_.labels.push_back(all.labels[static_cast<std::size_t>(rank)]);
  }
}

}  // namespace lockstep::internal::comm
