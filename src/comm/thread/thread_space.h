// Ranks that are threads of one process: their shared memory is simply the heap.
#pragma once

#include "base/thread_annotations.h"
#include "comm/shared/shared_space.h"

#include <map>
#include <memory>

namespace lockstep::comm {

/// The memory of one group of threads; every rank's ThreadSpace holds it. Any thread may call it.
class ThreadWorld {
 public:
  /// For ranks that messages call by these numbers.
  explicit ThreadWorld(const std::vector<int>& labels);

  Blackboard blackboard() const { return {memory_.get(), size_}; }

  /// The world of a group that has some of this one's ranks: the same for all that ask with one
  /// name, which each of its ranks does once.
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

  /// Parts that not all of their ranks have asked for yet.
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
  Blackboard blackboard() const override { return world_->blackboard(); }
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

}  // namespace lockstep::comm
