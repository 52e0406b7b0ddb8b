#include "cli/bench/measure.h"

#include "base/deadline.h"
#include "cli/bench/ops.h"
#include "cli/bench/values.h"
#include "comm/algorithms.h"
#include "observe/statistics.h"

#include <algorithm>

namespace lockstep::internal::cli {

namespace {

constexpr std::size_t kMostAlgorithms = 8;

comm::Offers offers_of(Group& group) {
  return {.shared_memory = group.has(Algorithm::direct),
          .hierarchy = group.has(Algorithm::hierarchical),
          .native = group.has(Algorithm::native)};
}

std::vector<Algorithm> algorithms_for(Group& group, const BenchOp& op, const BenchPlan& plan) {
  const comm::Offers offers = offers_of(group);
  std::vector<Algorithm> algorithms;
  if (plan.all_algorithms) algorithms = comm::algorithms_of(op.operation, offers);
  for (Algorithm algorithm : plan.algorithms) {
    comm::require_algorithm(op.operation, op.name, algorithm, offers, group.transport());
    if (std::find(algorithms.begin(), algorithms.end(), algorithm) == algorithms.end())
      algorithms.push_back(algorithm);
  }
  if (algorithms.empty()) algorithms.push_back(Algorithm::automatic);
  return algorithms;
}

std::uint64_t check(Group& group, const BenchOp& op, const BenchArrays& arrays,
                    Algorithm algorithm) {
  const DataType type = arrays.values.type;
  fill(arrays.values,
       [&](std::size_t i) { return bench_value(type, group.rank(), group.size(), i); });
  op.run(group, arrays, algorithm);
  if (op.settle) op.settle(group, arrays);

  BenchPlace place{group.rank(), group.size(), 0, arrays.values.count, {}};
  place.written = [&](int rank) { return bench_value(type, rank, group.size(), place.i); };
  std::vector<std::int64_t> wrong{count_wrong(arrays.values, [&](std::size_t i) {
    place.i = i;
    return op.expected(place);
  })};
  group.all_reduce(wrong);
  return static_cast<std::uint64_t>(wrong[0]);
}

double measure_seconds(Group& group, const BenchOp& op, const BenchArrays& arrays,
                       Algorithm algorithm, const BenchPlan& plan) {
  // Zeros stay zeros, however often they are added.
  fill(arrays.values, [](std::size_t) { return 0; });
  std::vector<double> seconds(static_cast<std::size_t>(plan.repeat));
  for (int warm_up = 0; warm_up < plan.warm_ups; ++warm_up) op.run(group, arrays, algorithm);
  for (double& one : seconds) {
    group.barrier();
    const double start = now_seconds();
    op.run(group, arrays, algorithm);
    one = op.share * (now_seconds() - start);
  }
  group.all_reduce(seconds, ReduceOp::max);
  return observe::percentile(seconds, 0.5);
}

}  // namespace

std::size_t BenchPlan::most_results() const {
  return sizes.size() * (kMostAlgorithms + algorithms.size());
}

double BenchResult::algbw_gbs() const {
  return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0;
}

double BenchResult::busbw_gbs(const std::string& op, int workers) const {
  return algbw_gbs() * bench_op(op).busbw_factor(workers);
}

std::vector<BenchResult> measure(Group group, const BenchPlan& plan) {
  const BenchOp& op = bench_op(plan.op);
  const std::vector<Algorithm> algorithms = algorithms_for(group, op, plan);
  std::vector<BenchResult> results;
  for (std::size_t bytes : plan.sizes) {
    const std::size_t count = bytes / size_of(plan.type);
    const Memory memory = group.allocate(std::max<std::size_t>(bytes, 1));
    std::vector<std::byte> scratch(bytes);
    const BenchArrays arrays{{memory.data(), count, plan.type}, {scratch.data(), count, plan.type}};
    for (Algorithm algorithm : algorithms) {
      BenchResult result{algorithm, bytes, 0, 0};
      result.wrong = check(group, op, arrays, algorithm);
      result.seconds = measure_seconds(group, op, arrays, algorithm, plan);
      results.push_back(result);
    }
  }
  return results;
}

}  // namespace lockstep::internal::cli
