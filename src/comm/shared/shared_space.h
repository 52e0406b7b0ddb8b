// SharedSpace: where a group's shared memory comes from, and how one learns that a rank is gone.
// The two ways are threads of one process (thread/) and processes of one host (shm/).
#pragma once

#include "base/deadline.h"
#include "comm/membership.h"
#include "comm/shared/blackboard.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace lockstep::comm {

/// A block that this rank made for all ranks to map.
struct OwnRegion {
  std::shared_ptr<std::byte> memory;  ///< zeroed; null if it could not be made
  RegionHandle handle;                ///< lets others map it
};

/// How a rank went: of its own accord, or because its process ended.
enum class Departure { left, died };

class SharedSpace {
 public:
  virtual ~SharedSpace() = default;

  virtual std::string_view name() const = 0;
  virtual Blackboard blackboard() const = 0;

  /// Called once, when all ranks have joined.
  virtual void all_joined() = 0;

  /// Never throws for lack of memory: all ranks must come to the meeting where failure is
  /// announced.
  virtual OwnRegion make_region(std::size_t bytes) = 0;

  /// Maps a region that `rank` made. Throws Error if that fails.
  virtual std::shared_ptr<std::byte> map_region(int rank, RegionHandle handle,
                                                std::size_t bytes) = 0;

  /// Called once all ranks have mapped what this rank made: its name, if it has one, can go.
  virtual void seal_region(RegionHandle handle) = 0;

  /// If the rank can no longer take part: how it went.
  virtual std::optional<Departure> gone(int rank) const = 0;

  /// How the process of a rank that died ended ("was ended by signal 9 (Killed)"), if anyone knows
  /// within `patience`.
  virtual std::string ending_of(int rank, std::chrono::milliseconds patience) const = 0;

  /// The space of a group that has some of this one's ranks. All of them call it.
  virtual std::unique_ptr<SharedSpace> split(const Membership& part, const WaitLimit& limit) = 0;
};

}  // namespace lockstep::comm
