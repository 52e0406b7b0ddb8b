#include "base/quick_hash.h"

#include <array>
#include <bit>
#include <cstring>

namespace lockstep {

namespace {

// Odd, with bits all over: multiplying by it loses nothing and moves every bit upwards.
constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;

/// Takes a word into a state. Each step can be undone, so a state that differs stays different.
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
  // Four rows of words side by side, since a step takes longer than its words take to come.
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

}  // namespace lockstep
