// The memory of one rank's flight recorder, which the rank writes and its launcher reads. It
// consists of atomic words, because the launcher may read while the rank or a child of the rank
// still writes. Readers must validate the content: a faulty rank can write anywhere.
//
// A slot is valid if its `check` is the quick_hash of its words. A rank that is killed while it
// fills a slot leaves an invalid one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lockstep::internal::comm {

/// Number of operations kept.
constexpr std::size_t kFlightRecords = 1024;
constexpr std::size_t kFlightFolderBytes = 2048;

struct FlightSlot {
  /// number; operation, algorithm, direction and group; sequence or peer; bytes; step and bucket;
  /// begin.
  std::array<std::atomic<std::uint64_t>, 6> words;
  std::atomic<std::uint64_t> check;
  /// end_word(): 0 while the operation runs. Not covered by the check, because it is written later.
  std::atomic<std::uint64_t> end;
};

struct FlightMemory {
  std::atomic<std::uint64_t> taken;  ///< slots used since the start
  /// The step and its complement, which validates it.
  std::array<std::atomic<std::uint64_t>, 2> step;
  std::atomic<std::uint64_t> folder_check;  ///< quick_hash of `folder`
  std::array<std::atomic<std::uint64_t>, kFlightFolderBytes / 8> folder;  ///< padded with zeros
  std::array<std::byte, 4096 - 4 * 8 - kFlightFolderBytes> room;
  std::array<FlightSlot, kFlightRecords> slots;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share it");
static_assert(sizeof(FlightSlot) == 64 && sizeof(FlightMemory) % 4096 == 0, "whole pages");

}  // namespace lockstep::internal::comm
