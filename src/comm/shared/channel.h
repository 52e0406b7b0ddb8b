// Channel: a ring buffer in shared memory, from one rank to another.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep::internal::comm {

/// A ring buffer with one writer and one reader. Positions only grow; modulo kCapacity they are
/// indices. The functions check the positions, because another process writes one of them, and
/// throw Error if memory was overwritten.
struct Channel {
  static constexpr std::size_t kCapacity = 128 * 1024;

  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> read{0};
  alignas(64) std::array<std::byte, kCapacity> bytes;
};

/// Number of bytes in the channel.
std::size_t used(const Channel& channel);

/// Copies as much of `data` as fits into the channel; returns the number of bytes.
std::size_t write_some(Channel& channel, std::span<const std::byte> data);

/// Copies up to the length of `out` and leaves the bytes in the channel; returns the number of
/// bytes.
std::size_t peek(const Channel& channel, std::span<std::byte> out);

/// Like peek, but removes the bytes from the channel.
std::size_t read_some(Channel& channel, std::span<std::byte> out);

}  // namespace lockstep::internal::comm
