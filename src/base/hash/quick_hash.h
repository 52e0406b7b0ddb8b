// A fast 64-bit hash of many bytes, to detect accidental differences. Not secure against deliberate
// collisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep::internal {

/// The same on every machine of one byte order. Inputs that differ only within one 8-byte word, for
/// example in one bit, never collide; other inputs collide with probability 2^-64.
std::uint64_t quick_hash(std::span<const std::byte> bytes);

/// Combines a sequence of hashes into one, with the same properties.
std::uint64_t quick_hash(std::span<const std::uint64_t> words);

}  // namespace lockstep::internal
