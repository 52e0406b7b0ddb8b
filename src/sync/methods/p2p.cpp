#include "sync/methods/p2p.h"

#include "sync/methods/rank_zero_average.h"

#include <cstring>

namespace lockstep::internal::sync {

namespace {

void wait_for(std::vector<Work>& works) {
  for (Work& work : works) work.wait();
  works.clear();
}

}  // namespace

PointToPoint::PointToPoint(Group group, const Gradients& gradients, ReduceOp op)
    : group_(std::move(group)), gradients_(gradients), op_(op) {
  if (group_.rank() == 0)
    parts_.resize(gradients.layout().bytes() * static_cast<std::size_t>(group_.size()));
}

void PointToPoint::finish() {
  if (group_.rank() == 0)
    serve();
  else
    send_and_receive();
}

void PointToPoint::serve() {
  const std::size_t parameters = gradients_.parameters().size();
  std::vector<Work> works;
  for (std::size_t parameter = 0; parameter < parameters; ++parameter) {
    const ArrayView mine = gradients_.of(parameter);
    std::memcpy(part_of(parameter, 0).data, mine.data, mine.bytes());
    for (int peer = 1; peer < group_.size(); ++peer)
      works.push_back(group_.irecv(part_of(parameter, peer), peer, static_cast<int>(parameter)));
  }
  wait_for(works);
  for (std::size_t parameter = 0; parameter < parameters; ++parameter) {
    reduce_parts(parts_of(parameter), group_.size(), op_);
    const ArrayView mine = gradients_.of(parameter);
    std::memcpy(mine.data, part_of(parameter, 0).data, mine.bytes());
    for (int peer = 1; peer < group_.size(); ++peer)
      works.push_back(group_.isend(mine, peer, static_cast<int>(parameter)));
  }
  wait_for(works);
}

void PointToPoint::send_and_receive() {
  std::vector<Work> works;
  for (std::size_t parameter = 0; parameter < gradients_.parameters().size(); ++parameter)
    works.push_back(group_.isend(gradients_.of(parameter), 0, static_cast<int>(parameter)));
  wait_for(works);
  for (std::size_t parameter = 0; parameter < gradients_.parameters().size(); ++parameter)
    works.push_back(group_.irecv(gradients_.of(parameter), 0, static_cast<int>(parameter)));
  wait_for(works);
}

ArrayView PointToPoint::parts_of(std::size_t parameter) {
  const auto ranks = static_cast<std::size_t>(group_.size());
  const Slot& slot = gradients_.layout().slots()[parameter];
  const ArrayView all(parts_.data(), gradients_.layout().size() * ranks,
                      gradients_.layout().type());
  return all.slice(slot.begin * ranks, slot.count * ranks);
}

ArrayView PointToPoint::part_of(std::size_t parameter, int rank) {
  const std::size_t count = gradients_.parameters()[parameter].count;
  return parts_of(parameter).slice(static_cast<std::size_t>(rank) * count, count);
}

}  // namespace lockstep::internal::sync
