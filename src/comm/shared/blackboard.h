// Blackboard: the memory that all ranks of a group see, and what lies where in it.
//
//   header     one a group: who is expected, the meeting point
//   cells      one a rank: who it is, whether it is there, what it last announced
//   channels   two for each ordered pair of ranks, one a Traffic: a ring of bytes for messages
//   staging    one a rank: room for a piece of an array that other ranks cannot reach
//
// Pages are touched only when used, so a large group costs little memory until it talks.
// The transports `thread` and `shm` differ in where this memory comes from (see SharedSpace), and
// in nothing else: thread sanitizer, which sees only one process, thereby checks the code of both.
#pragma once

#include "comm/blame.h"
#include "comm/fingerprint.h"
#include "comm/shared/doorbell.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::comm {

/// Where a rank's array lies: in a region that all ranks have mapped, or in its staging area.
struct Location {
  static constexpr std::uint64_t kStaged = 0;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  ///< this rank has no array

  std::uint64_t region = kStaged;  ///< number of the region, from 1; kStaged for the staging area
  std::uint64_t offset = 0;
};

/// How another rank can map a region: meaningful to the SharedSpace that made it. If `first` is 0
/// there is none, and `second` is the errno for it, or 0 where there was no memory.
struct RegionHandle {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

/// What a rank tells the others when it comes to a meeting.
struct Notice {
  Fingerprint call;
  Location location;
  RegionHandle handle;
};

enum class Presence : std::uint32_t { expected, present, left };

struct alignas(64) RankCell {
  std::atomic<Presence> presence{Presence::expected};
  std::int32_t pid = 0;
  std::array<char, 64> host{};
  std::int32_t label = 0;  ///< the number that messages call this rank by
  /// The label, plus one, of the rank that made this rank give up; 0 if none did.
  std::atomic<std::int32_t> blames{0};
  /// Goes up while this rank waits for others, so that they can tell waiting from being stuck.
  std::atomic<std::uint32_t> pulse{0};

  /// Rung when a message for this rank was written, or room was made for one of its own.
  alignas(64) Doorbell messages;

  /// The last meeting this rank came to, and its notices, by the parity of the meeting's number:
  /// nobody can come to meeting n+2, and so overwrite notice n, before all have left meeting n.
  alignas(64) std::atomic<std::uint64_t> meeting{0};
  std::array<Notice, 2> notices{};

  /// What this rank called last, as far as it told the others.
  std::string last_call() const {
    return notices[meeting.load(std::memory_order_acquire) % 2].call.text();
  }
};

struct GroupHeader {
  std::uint64_t magic = 0;
  std::uint64_t size = 0;

  /// How many times a rank has come to a meeting: meeting n is held once it is n · size. A rank
  /// that gives up takes its coming back, unless the meeting was just held.
  alignas(64) std::atomic<std::uint64_t> attendance{0};
  Doorbell held;
};

/// Collectives have channels of their own: they must not queue behind messages of the user's that
/// nobody receives yet.
enum class Traffic { user, collective };
constexpr std::size_t kTraffics = 2;

/// A ring of bytes with one writer and one reader. Positions only grow; modulo kCapacity they are
/// indices.
struct Channel {
  static constexpr std::size_t kCapacity = 128 * 1024;

  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> read{0};
  alignas(64) std::array<std::byte, kCapacity> bytes;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free,
              "atomics must work across processes");

/// A typed view of the memory; owns nothing.
class Blackboard {
 public:
  static constexpr std::size_t kStagingBytes = 512 * 1024;

  /// Bytes needed for a group of `size` ranks.
  static std::size_t bytes_for(int size);

  /// Prepares zeroed memory for a group whose ranks messages call by these numbers. REQUIRES: no
  /// other rank looks at it yet.
  static void prepare(std::byte* memory, const std::vector<int>& labels);

  /// Throws Error if the memory was not prepared for a group of `size` ranks.
  Blackboard(std::byte* memory, int size);

  int size() const { return size_; }
  GroupHeader& header() const;
  RankCell& cell(int rank) const;
  Channel& channel(int from, int to, Traffic traffic) const;
  std::byte* staging(int rank) const;

  int label(int rank) const { return cell(rank).label; }

  /// "rank 2 (pid 4711 on host)".
  std::string describe(int rank) const;
  Late late(int rank) const { return {label(rank), describe(rank), cell(rank).last_call()}; }

 private:
  std::byte* memory_;
  int size_;
};

}  // namespace lockstep::comm
