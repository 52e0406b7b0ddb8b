// Random numbers that are the same on every machine, compiler and standard library. A stream is
// named by what it is for (seed, epoch, sample …), so that no result depends on who drew before.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

/// SplitMix64: 64 bits of state, one multiply-xorshift mix a number. Good enough to shuffle and to
/// augment; not for secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// The stream of its own that belongs to (seed, a, b).
  Random(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0);

  std::uint64_t next();

  /// Uniform over 0 … bound − 1, without bias. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound);

  /// Uniform over [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// The numbers 0 … count − 1 in random order.
std::vector<std::uint32_t> permutation(std::uint32_t count, Random random);

}  // namespace lockstep
