// Random numbers that are the same on every machine, compiler and standard library. A stream is
// identified by its purpose (seed, epoch, sample …), so that no result depends on numbers drawn
// elsewhere.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::internal {

/// SplitMix64: 64 bits of state, one multiply-xorshift mix per number. Good enough for shuffling
/// and augmentation; not for secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// The independent stream that belongs to (seed, a, b).
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

}  // namespace lockstep::internal
