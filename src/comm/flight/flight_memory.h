// The memory of one rank's flight recorder, which the rank writes and its launcher reads. All of it
// is atomic words: the launcher may look while the rank, or what it has started, still writes; and
// whatever is in it may be wrong, because a rank that goes astray can write anywhere.
//
// A slot is valid if its `check` is the quick_hash of its words. A rank that is killed while it
// fills a slot leaves one that is not.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lockstep::comm {

/// How many operations are kept.
constexpr std::size_t kFlightRecords = 1024;
constexpr std::size_t kFlightFolderBytes = 2048;

struct FlightSlot {
  /// number; operation, algorithm, direction and group; sequence or peer; bytes; step and bucket;
  /// begin.
  std::array<std::atomic<std::uint64_t>, 6> words;
  std::atomic<std::uint64_t> check;
  /// end_word(): 0 while under way. Not part of the check, since it comes later.
  std::atomic<std::uint64_t> end;
};

struct FlightMemory {
  std::atomic<std::uint64_t> taken;                ///< slots, since the start
  std::array<std::atomic<std::uint64_t>, 2> step;  ///< and its complement, so that one can tell
  std::atomic<std::uint64_t> folder_check;         ///< quick_hash of `folder`
  std::array<std::atomic<std::uint64_t>, kFlightFolderBytes / 8> folder;  ///< padded with zeros
  std::array<std::byte, 4096 - 4 * 8 - kFlightFolderBytes> room;
  std::array<FlightSlot, kFlightRecords> slots;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share it");
static_assert(sizeof(FlightSlot) == 64 && sizeof(FlightMemory) % 4096 == 0, "whole pages");

}  // namespace lockstep::comm
