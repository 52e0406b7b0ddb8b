// ThreadSpace: the shared memory of ranks that are threads of one process, on the heap.
#pragma once

#include "base/thread_annotations.h"
#include "comm/shared/shared_space.h"

#include <map>
#include <memory>

namespace lockstep::internal::comm {

/// The memory of one group of threads, owned jointly by the ranks' ThreadSpaces. Thread safety: any
/// thread.
class ThreadWorld {
 public:
  /// `labels` are the ranks' numbers in messages.
  explicit ThreadWorld(const std::vector<int>& labels);

  GroupMemory group_memory() const { return {memory_.get(), size_}; }

  /// The world of a group formed by some of this one's ranks: the same object for all calls with
  /// one name. Each of the group's ranks calls it once.
  std::shared_ptr<ThreadWorld> part(const Membership& membership);

  /// Regions between make_region and seal_region, by number from 1.
  std::uint64_t publish(std::shared_ptr<std::byte> region);
  std::shared_ptr<std::byte> find(std::uint64_t number);
  void withdraw(std::uint64_t number);

 private:
  const int size_;
  const std::shared_ptr<std::byte> memory_;

  Mutex mutex_;
  std::uint64_t last_ GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, std::shared_ptr<std::byte>> regions_ GUARDED_BY(mutex_);

  /// Groups that some of their ranks have not requested yet.
  struct Part {
    std::shared_ptr<ThreadWorld> world;
    int asked = 0;
  };
  std::map<std::string, Part> parts_ GUARDED_BY(mutex_);
};

class ThreadSpace : public SharedSpace {
 public:
  explicit ThreadSpace(std::shared_ptr<ThreadWorld> world) : world_(std::move(world)) {}

  std::string_view name() const override { return "thread"; }
  GroupMemory group_memory() const override { return world_->group_memory(); }
  OwnRegion make_region(std::size_t bytes) override;
  std::shared_ptr<std::byte> map_region(int rank, RegionHandle handle, std::size_t bytes) override;
  void seal_region(RegionHandle handle) override;
  void all_joined() override {}
  std::optional<Departure> gone(int rank) const override;
  std::string ending_of(int, std::chrono::milliseconds) const override { return ""; }
  std::unique_ptr<SharedSpace> split(const Membership& part, const WaitLimit& limit) override;

 private:
  std::shared_ptr<ThreadWorld> world_;
};

}  // namespace lockstep::internal::comm
