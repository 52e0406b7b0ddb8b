// 64 bits that stand for many bytes, at the speed of memory. For noticing that bytes differ by
// accident; no defence against somebody who wants equal hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep {

/// The same on every machine of one byte order. Bytes that differ within one of their words of 8
/// only, by a flipped bit say, never have the same hash; others once in 2^64.
std::uint64_t quick_hash(std::span<const std::byte> bytes);

/// What a row of hashes comes to, likewise.
std::uint64_t quick_hash(std::span<const std::uint64_t> words);

}  // namespace lockstep
