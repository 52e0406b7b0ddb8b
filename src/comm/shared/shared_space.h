// SharedSpace: the source of a group's shared memory, and the detection of ranks that are gone.
// There are two implementations: threads of one process (thread/) and processes of one host (shm/).
#pragma once

#include "base/deadline.h"
#include "comm/membership.h"
#include "comm/shared/group_memory.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace lockstep::internal::comm {

/// A block of memory that this rank made for all ranks to map.
struct OwnRegion {
  std::shared_ptr<std::byte> memory;  ///< zeroed; null on failure
  RegionHandle handle;                ///< lets other ranks map it
};

/// How a rank ended its membership: it left, or its process ended.
enum class Departure { left, died };

class SharedSpace {
 public:
  virtual ~SharedSpace() = default;

  virtual std::string_view name() const = 0;
  virtual GroupMemory group_memory() const = 0;

  /// Called once, when all ranks have joined.
  virtual void all_joined() = 0;

  /// Never throws for lack of memory: all ranks must arrive at the barrier where the failure is
  /// announced.
  virtual OwnRegion make_region(std::size_t bytes) = 0;

  /// Maps a region of `rank`. Throws Error on failure.
  virtual std::shared_ptr<std::byte> map_region(int rank, RegionHandle handle,
                                                std::size_t bytes) = 0;

  /// Called once all ranks have mapped this rank's region; releases its handle.
  virtual void seal_region(RegionHandle handle) = 0;

  /// How the rank ended its membership; empty while it takes part.
  virtual std::optional<Departure> gone(int rank) const = 0;

  /// How the process of a dead rank ended ("was ended by signal 9 (Killed)"); empty if this is not
  /// known within `timeout`.
  virtual std::string ending_of(int rank, std::chrono::milliseconds timeout) const = 0;

  /// The space of a group formed by some of this one's ranks. A collective of those ranks.
  virtual std::unique_ptr<SharedSpace> split(const Membership& part, const WaitLimit& limit) = 0;
};

}  // namespace lockstep::internal::comm
