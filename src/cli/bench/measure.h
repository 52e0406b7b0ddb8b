// Times one operation on one group.
#pragma once

#include <lockstep/group.h>

#include <string>
#include <vector>

namespace lockstep::internal::cli {

struct BenchPlan {
  std::string op = "all-reduce";  ///< one of bench_ops()
  DataType type = DataType::float32;
  bool all_algorithms = true;  ///< all algorithms of the operation on the group's transport, in
                               ///< addition to `algorithms`
  std::vector<Algorithm> algorithms;  ///< REQUIRES: the group's transport has them
  /// Length of the array in bytes; of the whole array if each rank has a part.
  std::vector<std::size_t> sizes;
  int repeat = 20;
  int warm_ups = 3;  ///< repetitions before the timed ones

  /// An upper bound on the number of results.
  std::size_t most_results() const;
};

/// One line of nccl-tests' table. Bandwidths in GB/s. Trivially copyable, because it is stored in
/// memory that processes share.
struct BenchResult {
  Algorithm algorithm = Algorithm::automatic;
  std::uint64_t bytes = 0;
  double seconds = 0;       ///< time of the median repetition, on the slowest rank
  std::uint64_t wrong = 0;  ///< number of elements that differ from the closed form

  double algbw_gbs() const;
  double busbw_gbs(const std::string& op, int workers) const;
};

/// A collective; all ranks get the same results. Throws UsageError if the group's transport lacks a
/// named algorithm.
std::vector<BenchResult> measure(Group group, const BenchPlan& plan);

}  // namespace lockstep::internal::cli
