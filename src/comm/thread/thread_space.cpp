#include "comm/thread/thread_space.h"

#include "base/check.h"
#include "base/free_memory.h"

#include <sys/mman.h>

namespace lockstep::comm {

namespace {

/// Zeroed pages that cost nothing until they are touched; null where there is no room.
std::shared_ptr<std::byte> map_pages(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(memory), [bytes](std::byte* pages) { ::munmap(pages, bytes); }};
}

}  // namespace

ThreadWorld::ThreadWorld(int size) : size_(size), memory_(map_pages(Blackboard::bytes_for(size))) {
  if (!memory_) throw Error(fmt::format("no room for a group of {} threads", size));
  Blackboard::prepare(memory_.get(), size);
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
  if (bytes > free_memory() / static_cast<std::uint64_t>(blackboard().size())) return {};
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

std::optional<Departure> ThreadSpace::gone(int rank) const {
  if (blackboard().cell(rank).presence.load(std::memory_order_acquire) == Presence::left)
    return Departure::left;
  return std::nullopt;
}

}  // namespace lockstep::comm
