// Times one round: repeats a contender's all-reduce for a given time.
#pragma once

#include "contender.h"

#include <cstdint>

namespace lockstep::internal::benchmarks {

/// Communication between the ranks of a round that is not timed.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void barrier() = 0;
  /// The largest of all ranks' values. A collective.
  virtual double max(double value) = 0;
};

struct Round {
  double seconds = 0;  ///< time of the mean repetition on the slowest rank
  std::uint64_t wrong =
      0;  ///< number of elements that differ from the closed form, on the worst rank
};

/// Checks the result once, warms up, then times repetitions for `seconds` or somewhat longer. A
/// collective; all ranks get the same Round.
Round measure_round(Contender& contender, Ranks& ranks, double seconds);

}  // namespace lockstep::internal::benchmarks
