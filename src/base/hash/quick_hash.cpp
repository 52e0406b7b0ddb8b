#include "base/hash/quick_hash.h"

#include <array>
#include <bit>
#include <cstring>

namespace lockstep::internal {

namespace {

// Odd, with bits spread over the word: multiplication by it is invertible and moves every bit
// upwards.
constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;

/// Mixes a word into a state. Each step is invertible, so different states stay different.
std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  return std::rotl((state ^ word) * kFactor, 29);
}

std::uint64_t word_at(const std::byte* bytes, std::size_t count = sizeof(std::uint64_t)) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  return word;
}

}  // namespace

std::uint64_t quick_hash(std::span<const std::byte> bytes) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  // Four independent rows of words, because a step takes longer than loading its words.
  std::array<std::uint64_t, 4> states{1, 2, 3, 4};
  const std::byte* place = bytes.data();
  const std::byte* const end = place + bytes.size();
  for (; end - place >= static_cast<std::ptrdiff_t>(states.size() * kWord);
       place += states.size() * kWord)
    for (std::size_t i = 0; i < states.size(); ++i)
      states[i] = mix(states[i], word_at(place + i * kWord));
  std::uint64_t hash = bytes.size();
  for (std::uint64_t state : states) hash = mix(hash, state);
  for (; end - place >= static_cast<std::ptrdiff_t>(kWord); place += kWord)
    hash = mix(hash, word_at(place));
  if (place < end) hash = mix(hash, word_at(place, static_cast<std::size_t>(end - place)));
  return hash;
}

std::uint64_t quick_hash(std::span<const std::uint64_t> words) {
  return quick_hash(std::as_bytes(words));
}

}  // namespace lockstep::internal
