// Timing one operation on one group.
#pragma once

#include <lockstep/group.h>

#include <string>
#include <vector>

namespace lockstep::cli {

struct BenchPlan {
  std::string op = "all-reduce";  ///< one of bench_ops()
  DataType type = DataType::float32;
  bool all_algorithms = true;         ///< all that the operation has on the group's transport, and
  std::vector<Algorithm> algorithms;  ///< these; the group must have them
  /// Bytes of the array: the whole one where ranks have parts of it.
  std::vector<std::size_t> sizes;
  int repeat = 20;
  int warm_ups = 3;  ///< before them, not timed

  /// More results than this do not come of it.
  std::size_t most_results() const;
};

/// One line of nccl-tests' table. Bandwidths in GB/s. Trivially copyable, because processes share
/// it.
struct BenchResult {
  Algorithm algorithm = Algorithm::automatic;
  std::uint64_t bytes = 0;
  double seconds = 0;       ///< the median repetition's time, on the slowest rank
  std::uint64_t wrong = 0;  ///< elements that were not as the closed form says

  double algbw_gbs() const;
  double busbw_gbs(const std::string& op, int workers) const;
};

/// A collective; all ranks get the same results. Throws UsageError if the group's transport lacks
/// an algorithm that was named.
std::vector<BenchResult> measure(Group group, const BenchPlan& plan);

}  // namespace lockstep::cli
