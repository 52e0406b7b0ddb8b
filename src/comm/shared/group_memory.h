// GroupMemory: the memory that all ranks of a group share, and its layout.
//
//   header        one per group: its size, the barrier's state
//   rank states   one per rank: process, presence, last announcement
//   channels      two for each ordered pair of ranks, one per Traffic: a ring buffer for messages
//   staging       one per rank: space for a piece of an array that other ranks cannot access
//
// Pages are touched only when used, so a large group needs little memory until its ranks exchange
// data. The transports `thread` and `shm` differ only in the source of this memory (see
// SharedSpace). Thread sanitizer, which sees only one process, therefore checks the code of both.
#pragma once

#include "comm/failure_attribution.h"
#include "comm/fingerprint.h"
#include "comm/shared/channel.h"
#include "comm/shared/event_count.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::internal::comm {

/// Location of a rank's array: in a region that all ranks have mapped, or in its staging area.
struct Location {
  static constexpr std::uint64_t kStaged = 0;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  ///< this rank has no array

  std::uint64_t region = kStaged;  ///< number of the region, from 1; kStaged for the staging area
  std::uint64_t offset = 0;
};

/// Lets another rank map a region; interpreted by the SharedSpace that made it. `first` is 0 if
/// there is no region; `second` is then the errno, or 0 if there was no memory.
struct RegionHandle {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

/// What a rank announces to the others at a barrier.
struct Notice {
  Fingerprint call;
  Location location;
  RegionHandle handle;
};

enum class Presence : std::uint32_t { expected, present, left };

struct alignas(64) RankState {
  std::atomic<Presence> presence{Presence::expected};
  std::int32_t pid = 0;
  std::array<char, 64> host{};
  std::int32_t label = 0;  ///< this rank's number in messages
  /// The label of the rank that made this rank give up, plus one; 0 if there is none.
  std::atomic<std::int32_t> gave_up_because_of{0};
  /// Incremented while this rank waits for others, so that they can tell waiting from being stuck.
  std::atomic<std::uint32_t> wait_count{0};

  /// Notified when a message for this rank was written, or space was freed for one of its own.
  alignas(64) EventCount messages;

  /// The last barrier this rank arrived at, and its notices, by the parity of the barrier's number:
  /// no rank can arrive at barrier n+2, and overwrite notice n, before all have left barrier n.
  alignas(64) std::atomic<std::uint64_t> barrier{0};
  std::array<Notice, 2> notices{};

  /// The last collective that this rank announced.
  std::string last_call() const {
    return notices[barrier.load(std::memory_order_acquire) % 2].call.text();
  }
};

struct GroupHeader {
  std::uint64_t magic = 0;
  std::uint64_t size = 0;

  /// Number of arrivals of all ranks at all barriers: barrier n is complete at n · size. A rank
  /// that gives up withdraws its arrival, unless the barrier has just completed.
  alignas(64) std::atomic<std::uint64_t> arrivals{0};
  EventCount completed;
};

/// Collectives have their own channels, so that they never queue behind the user's messages that
/// have no receive yet.
enum class Traffic { user, collective };
constexpr std::size_t kTraffics = 2;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free,
              "atomics must work across processes");

/// A typed view of the shared memory. Does not own it.
class GroupMemory {
 public:
  static constexpr std::size_t kStagingBytes = 512 * 1024;

  /// Bytes needed for a group of `size` ranks.
  static std::size_t bytes_for(int size);

  /// Initialises zeroed memory for a group whose ranks have these labels. REQUIRES: no other rank
  /// accesses it yet.
  static void prepare(std::byte* memory, const std::vector<int>& labels);

  /// Throws Error if the memory was not initialised for a group of `size` ranks.
  GroupMemory(std::byte* memory, int size);

  int size() const { return size_; }
  GroupHeader& header() const;
  RankState& rank_state(int rank) const;
  Channel& channel(int from, int to, Traffic traffic) const;
  std::byte* staging(int rank) const;

  int label(int rank) const { return rank_state(rank).label; }

  /// "rank 2 (pid 4711 on host)".
  std::string describe(int rank) const;
  LateRank late(int rank) const {
    return {label(rank), describe(rank), rank_state(rank).last_call()};
  }

 private:
  std::byte* memory_;
  int size_;
};

}  // namespace lockstep::internal::comm
