// Timing one collective on one group.
#pragma once

#include <lockstep/group.h>

#include <string>
#include <vector>

namespace lockstep::cli {

struct BenchPlan {
  std::string op = "all-reduce";  ///< one of bench_ops()
  std::vector<Algorithm> algorithms;
  std::vector<std::size_t>
      sizes;  ///< bytes of the array: the whole one where ranks have parts of it
  int repeat = 20;
};

/// One line of nccl-tests' table. Bandwidths in GB/s.
struct BenchResult {
  Algorithm algorithm = Algorithm::automatic;
  std::uint64_t bytes = 0;
  double seconds = 0;       ///< the median repetition's time, on the slowest rank
  std::uint64_t wrong = 0;  ///< elements that were not as the closed form says

  double algbw_gbs() const;
  double busbw_gbs(const std::string& op, int workers) const;
};

/// The operations that can be timed.
const std::vector<std::string>& bench_ops();

/// The algorithms that an operation has, best first. A message knows one way: star.
std::vector<Algorithm> algorithms_of(const std::string& op);

/// A collective; all ranks get the same results.
std::vector<BenchResult> measure(Group group, const BenchPlan& plan);

}  // namespace lockstep::cli
