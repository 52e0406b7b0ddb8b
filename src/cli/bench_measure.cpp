#include "cli/bench_measure.h"

#include "base/deadline.h"
#include "observe/statistics.h"

#include <algorithm>

namespace lockstep::cli {

namespace {

void run_once(Group& group, const std::string& op, std::span<float> values, Algorithm algorithm) {
  if (op == "broadcast")
    group.broadcast(values);
  else
    group.all_reduce(values, ReduceOp::sum, algorithm);
}

/// Small integers, whose sums are exact in any order.
float value(int rank, std::size_t i) {
  return static_cast<float>((i + static_cast<std::size_t>(rank)) % 8);
}

std::uint64_t count_wrong(Group& group, const std::string& op, std::span<float> values,
                          Algorithm algorithm) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(group.rank(), i);
  run_once(group, op, values, algorithm);
  std::vector<std::int64_t> wrong(1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    float expected = value(0, i);
    if (op != "broadcast")
      for (int rank = 1; rank < group.size(); ++rank) expected += value(rank, i);
    wrong[0] += values[i] != expected;
  }
  group.all_reduce(wrong);
  return static_cast<std::uint64_t>(wrong[0]);
}

double measure_seconds(Group& group, const std::string& op, std::span<float> values,
                       Algorithm algorithm, int repeat) {
  // Zeros stay zeros however often they are added.
  std::fill(values.begin(), values.end(), 0.0f);
  std::vector<double> seconds(static_cast<std::size_t>(repeat));
  for (int warm_up = 0; warm_up < 3; ++warm_up) run_once(group, op, values, algorithm);
  for (double& one : seconds) {
    group.barrier();
    const double start = now_seconds();
    run_once(group, op, values, algorithm);
    one = now_seconds() - start;
  }
  group.all_reduce(seconds, ReduceOp::max);
  return observe::percentile(seconds, 0.5);
}

}  // namespace

double BenchResult::algbw_gbs() const {
  return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0;
}

double BenchResult::busbw_gbs(const std::string& op, int workers) const {
  return op == "broadcast" ? algbw_gbs() : algbw_gbs() * 2 * (workers - 1) / workers;
}

std::vector<BenchResult> measure(Group group, const BenchPlan& plan) {
  std::vector<BenchResult> results;
  for (std::size_t bytes : plan.sizes) {
    Memory memory = group.allocate(bytes);
    for (Algorithm algorithm : plan.algorithms) {
      BenchResult result{algorithm, bytes, 0, 0};
      const std::span<float> values = memory.as<float>();
      result.wrong = count_wrong(group, plan.op, values, algorithm);
      result.seconds = measure_seconds(group, plan.op, values, algorithm, plan.repeat);
      results.push_back(result);
    }
  }
  return results;
}

}  // namespace lockstep::cli
