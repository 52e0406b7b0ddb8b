// ShmSpace: the shared memory of ranks that are processes of one host.
#pragma once

#include "base/unique_fd.h"
#include "comm/shared/shared_space.h"

#include <map>
#include <memory>
#include <set>
#include <vector>

namespace lockstep::internal::comm {

class ShmSpace : public SharedSpace {
 public:
  /// Rank 0 makes the group's memory and publishes its location in the store; the others map it.
  ShmSpace(RunContext run, const Membership& membership, const WaitLimit& limit);

  std::string_view name() const override { return "shm"; }
  GroupMemory group_memory() const override { return {memory_.get(), size_}; }
  OwnRegion make_region(std::size_t bytes) override;
  std::shared_ptr<std::byte> map_region(int rank, RegionHandle handle, std::size_t bytes) override;
  void seal_region(RegionHandle handle) override;
  void all_joined() override;
  std::optional<Departure> gone(int rank) const override;
  std::string ending_of(int rank, std::chrono::milliseconds timeout) const override;
  std::unique_ptr<SharedSpace> split(const Membership& part, const WaitLimit& limit) override;

 private:
  std::optional<Departure> gone_before_it_joined(int rank) const;
  void make_blackboard(const std::string& key);
  void map_blackboard(const std::string& key, const WaitLimit& limit);

  const RunContext run_;
  const Membership membership_;
  const int rank_;
  const int size_;
  std::shared_ptr<std::byte> memory_;
  UniqueFd group_memory_fd_;  ///< on rank 0 only, until all have joined
  /// Made by this rank and not yet mapped by all, by descriptor.
  std::map<int, UniqueFd> open_regions_;
  std::vector<UniqueFd> processes_;  ///< one pidfd per rank, once all have joined
  /// By rank: when to ask again whether it ended before it joined. Used while joining, by one
  /// thread.
  mutable std::map<int, Deadline> next_looks_;
  mutable std::set<int> never_joined_;  ///< ranks that ended before they joined
};

}  // namespace lockstep::internal::comm
