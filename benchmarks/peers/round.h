// Timing one round: as many repetitions of a contender's all-reduce as fill a given time.
#pragma once

#include "contender.h"

#include <cstdint>

namespace lockstep::internal::benchmarks {

/// How the ranks of a round agree, outside of what is timed.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void barrier() = 0;
  /// The greatest of all ranks' values. A collective.
  virtual double max(double value) = 0;
};

struct Round {
  double seconds = 0;       ///< the mean repetition, on the slowest rank
  std::uint64_t wrong = 0;  ///< elements that were not as the closed form says, on the worst rank
};

/// Checks the result once, warms up, then times repetitions for `seconds` or somewhat longer. A
/// collective; all ranks get the same Round.
Round measure_round(Contender& contender, Ranks& ranks, double seconds);

}  // namespace lockstep::internal::benchmarks
