#include "comm/thread/thread_space.h"

#include "base/check.h"
#include "base/free_memory.h"
#include "base/pages.h"

namespace lockstep::internal::comm {

ThreadWorld::ThreadWorld(const std::vector<int>& labels)
    : size_(static_cast<int>(labels.size())), memory_(map_pages(GroupMemory::bytes_for(size_))) {
  if (!memory_) throw Error(fmt::format("not enough memory for a group of {} threads", size_));
  GroupMemory::prepare(memory_.get(), labels);
}

std::shared_ptr<ThreadWorld> ThreadWorld::part(const Membership& membership) {
  Lock lock(mutex_);
  Part& part = parts_[membership.group];
  if (!part.world) part.world = std::make_shared<ThreadWorld>(membership.labels);
  const std::shared_ptr<ThreadWorld> world = part.world;
  if (++part.asked == membership.size()) parts_.erase(membership.group);
  return world;
}

std::uint64_t ThreadWorld::publish(std::shared_ptr<std::byte> region) {
  Lock lock(mutex_);
  regions_[++last_] = std::move(region);
  return last_;
}

std::shared_ptr<std::byte> ThreadWorld::find(std::uint64_t number) {
  Lock lock(mutex_);
  const auto found = regions_.find(number);
  LOCKSTEP_CHECK(found != regions_.end(), "region {} was never published", number);
  return found->second;
}

void ThreadWorld::withdraw(std::uint64_t number) {
  Lock lock(mutex_);
  regions_.erase(number);
}

OwnRegion ThreadSpace::make_region(std::size_t bytes) {
  if (bytes > free_memory() / static_cast<std::uint64_t>(group_memory().size())) return {};
  auto memory = map_pages(bytes);
  if (!memory) return {};
  return {memory, {world_->publish(memory), 0}};
}

std::shared_ptr<std::byte> ThreadSpace::map_region(int, RegionHandle handle, std::size_t) {
  return world_->find(handle.first);
}

void ThreadSpace::seal_region(RegionHandle handle) {
  world_->withdraw(handle.first);
}

std::unique_ptr<SharedSpace> ThreadSpace::split(const Membership& part, const WaitLimit&) {
  return std::make_unique<ThreadSpace>(world_->part(part));
}

std::optional<Departure> ThreadSpace::gone(int rank) const {
  if (group_memory().rank_state(rank).presence.load(std::memory_order_acquire) == Presence::left)
    return Departure::left;
  return std::nullopt;
}

}  // namespace lockstep::internal::comm
