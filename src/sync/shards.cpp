#include "sync/shards.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <bit>

namespace lockstep::internal::sync {

namespace {

bool is_power_of_two(int value) {
  return value > 0 && std::has_single_bit(static_cast<unsigned>(value));
}

bool goes_through_rank_zero(const Method& method) {
  return method.sync == "gather-scatter" || method.sync == "p2p" || method.sync == "coordinator";
}

}  // namespace

Shards shards_of(int asked, int rank, int workers) {
  if (asked == 0) return {rank, 1, workers};
  Shards mine{0, asked, asked};
  // Descend the tree of additions over the workers, whose left half is always full.
  while (workers > 1) {
    const int left = static_cast<int>(std::bit_ceil(static_cast<unsigned>(workers))) / 2;
    mine.count /= 2;
    if (rank < left) {
      workers = left;
    } else {
      mine.first += mine.count;
      rank -= left;
      workers -= left;
    }
  }
  return mine;
}

void require_shards(int asked, int workers) {
  if (asked == 0) return;
  if (!is_power_of_two(asked) || asked > 1024)
    throw UsageError(
        fmt::format("--shards is {}: it must be a power of two, from 1 to 1024", asked));
  if (!is_power_of_two(workers) || workers > asked)
    throw UsageError(fmt::format(
        "--shards {} cannot be distributed over {} workers: --workers must be a power of two, at "
        "most {}",
        asked, workers, asked));
}

Algorithm tree_algorithm(const Group& group) {
  if (group.has(Algorithm::direct)) return Algorithm::direct;
  return is_power_of_two(group.size()) ? Algorithm::halving_doubling : Algorithm::tree;
}

Method along_tree(Method method, const Group& group) {
  if (goes_through_rank_zero(method)) return method;
  const bool leaves_tree =
      method.algorithm == Algorithm::halving_doubling && !is_power_of_two(group.size());
  if (method.algorithm == Algorithm::automatic || leaves_tree)
    method.algorithm = tree_algorithm(group);
  return method;
}

std::string order_dependence(const Method& method) {
  switch (method.algorithm) {
    case Algorithm::automatic:
    case Algorithm::tree:
    case Algorithm::halving_doubling:
    case Algorithm::direct:
      return "";
    default:
      return fmt::format(
          "{} adds in an order that depends on the number of workers: with another number, the "
          "last bits of the weights differ in spite of --shards. direct, tree and halving-doubling "
          "add along one fixed tree",
          name_of(method.algorithm));
  }
}

double tree_sum(std::span<const double> values) {
  if (values.empty()) return 0;
  if (values.size() == 1) return values[0];
  const std::size_t half = std::bit_ceil(values.size()) / 2;
  return tree_sum(values.first(half)) + tree_sum(values.subspan(half));
}

}  // namespace lockstep::internal::sync
