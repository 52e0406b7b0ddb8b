#include "cli/bench_measure.h"

#include "base/deadline.h"
#include "observe/statistics.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

namespace lockstep::cli {

namespace {

/// One operation on an array that every rank has, and its closed form.
struct BenchOp {
  std::vector<Algorithm> algorithms;
  std::function<void(Group&, std::span<float>, Algorithm)> run;
  /// Element i on `rank` afterwards, given the ranks' sum at i; nothing where it is not defined.
  std::function<std::optional<float>(Group&, std::size_t i, std::size_t count, float sum)> expected;
  std::function<double(int)> busbw_factor;
};

/// Small integers, whose sums are exact in any order.
float value(int rank, std::size_t i) {
  return static_cast<float>((i + static_cast<std::size_t>(rank)) % 8);
}

std::size_t part_of(Group& group, std::size_t count) {
  return count / static_cast<std::size_t>(group.size());
}

std::span<float> my_part(Group& group, std::span<float> values) {
  const std::size_t part = part_of(group, values.size());
  return values.subspan(part * static_cast<std::size_t>(group.rank()), part);
}

/// The whole parts of an array: what is left over when the ranks divide it takes no part.
std::span<float> whole_parts(Group& group, std::span<float> values) {
  return values.first(part_of(group, values.size()) * static_cast<std::size_t>(group.size()));
}

double ring_share(int workers) {
  return static_cast<double>(workers - 1) / workers;
}

void ping_pong(Group& group, std::span<float> values) {
  if (group.rank() == 0 && group.size() > 1) {
    group.send(values, 1);
    group.recv(values, 1);
  } else if (group.rank() == 1) {
    group.recv(values, 0);
    group.send(values, 0);
  }
}

std::map<std::string, BenchOp> make_ops() {
  using enum Algorithm;
  auto sum_everywhere = [](Group&, std::size_t, std::size_t, float sum) {
    return std::optional(sum);
  };
  auto rank_zeros = [](Group&, std::size_t i, std::size_t, float) {
    return std::optional(value(0, i));
  };
  auto owners = [](Group& group, std::size_t i, std::size_t count, float) -> std::optional<float> {
    const std::size_t part = part_of(group, count);
    const auto owner = part == 0 ? static_cast<std::size_t>(group.size()) : i / part;
    if (owner >= static_cast<std::size_t>(group.size())) return std::nullopt;
    return value(static_cast<int>(owner), i);
  };
  auto only_root = [](Group& group, std::size_t, std::size_t, float sum) {
    return group.rank() == 0 ? std::optional(sum) : std::nullopt;
  };
  auto my_sums = [](Group& group, std::size_t i, std::size_t count, float sum) {
    const std::size_t part = part_of(group, count);
    const bool mine = part > 0 && i / part == static_cast<std::size_t>(group.rank());
    return mine ? std::optional(sum) : std::nullopt;
  };
  auto one = [](int) { return 1.0; };
  return {
      {"all-reduce",
       {{direct, ring, halving_doubling, tree, star},
        [](Group& group, std::span<float> values, Algorithm algorithm) {
          group.all_reduce(values, ReduceOp::sum, algorithm);
        },
        sum_everywhere,
        [](int workers) { return 2 * ring_share(workers); }}},
      {"reduce",
       {{tree, star},
        [](Group& group, std::span<float> values, Algorithm algorithm) {
          group.reduce(values, ReduceOp::sum, 0, algorithm);
        },
        only_root,
        one}},
      {"broadcast",
       {{direct, tree, star},
        [](Group& group, std::span<float> values, Algorithm algorithm) {
          group.broadcast(values, 0, algorithm);
        },
        rank_zeros,
        one}},
      {"reduce-scatter",
       {{direct, ring},
        [](Group& group, std::span<float> values, Algorithm algorithm) {
          // Into memory of its own: the others read the array until the end.
          std::vector<float> mine(part_of(group, values.size()));
          group.reduce_scatter(whole_parts(group, values), mine, ReduceOp::sum, algorithm);
          std::copy(mine.begin(), mine.end(), my_part(group, values).begin());
        },
        my_sums,
        ring_share}},
      {"all-gather",
       {{direct, ring},
        [](Group& group, std::span<float> values, Algorithm algorithm) {
          group.all_gather(my_part(group, values), whole_parts(group, values), algorithm);
        },
        owners,
        ring_share}},
      {"send-recv",
       {{star},
        [](Group& group, std::span<float> values, Algorithm) { ping_pong(group, values); },
        [](Group& group, std::size_t i, std::size_t, float) {
          return std::optional(value(group.rank() == 1 ? 0 : group.rank(), i));
        },
        one}},
  };
}

const std::map<std::string, BenchOp>& ops() {
  static const std::map<std::string, BenchOp> ops = make_ops();
  return ops;
}

std::uint64_t count_wrong(Group& group, const BenchOp& op, std::span<float> values,
                          Algorithm algorithm) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(group.rank(), i);
  op.run(group, values, algorithm);
  std::vector<std::int64_t> wrong(1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    float sum = 0;
    for (int rank = 0; rank < group.size(); ++rank) sum += value(rank, i);
    const auto expected = op.expected(group, i, values.size(), sum);
    wrong[0] += expected && values[i] != *expected;
  }
  group.all_reduce(wrong);
  return static_cast<std::uint64_t>(wrong[0]);
}

double measure_seconds(Group& group, const BenchOp& op, std::span<float> values,
                       Algorithm algorithm, int repeat) {
  // Zeros stay zeros however often they are added.
  std::fill(values.begin(), values.end(), 0.0f);
  std::vector<double> seconds(static_cast<std::size_t>(repeat));
  for (int warm_up = 0; warm_up < 3; ++warm_up) op.run(group, values, algorithm);
  for (double& one : seconds) {
    group.barrier();
    const double start = now_seconds();
    op.run(group, values, algorithm);
    one = now_seconds() - start;
  }
  group.all_reduce(seconds, ReduceOp::max);
  return observe::percentile(seconds, 0.5);
}

}  // namespace

const std::vector<std::string>& bench_ops() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> names;
    for (const auto& [name, op] : ops()) names.push_back(name);
    return names;
  }();
  return names;
}

std::vector<Algorithm> algorithms_of(const std::string& op) {
  return ops().at(op).algorithms;
}

double BenchResult::algbw_gbs() const {
  return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0;
}

double BenchResult::busbw_gbs(const std::string& op, int workers) const {
  return algbw_gbs() * ops().at(op).busbw_factor(workers);
}

std::vector<BenchResult> measure(Group group, const BenchPlan& plan) {
  const BenchOp& op = ops().at(plan.op);
  std::vector<BenchResult> results;
  for (std::size_t bytes : plan.sizes) {
    Memory memory = group.allocate(bytes);
    for (Algorithm algorithm : plan.algorithms) {
      BenchResult result{algorithm, bytes, 0, 0};
      const std::span<float> values = memory.as<float>();
      result.wrong = count_wrong(group, op, values, algorithm);
      result.seconds = measure_seconds(group, op, values, algorithm, plan.repeat);
      results.push_back(result);
    }
  }
  return results;
}

}  // namespace lockstep::cli
