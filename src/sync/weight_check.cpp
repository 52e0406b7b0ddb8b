#include "sync/weight_check.h"

#include <lockstep/error.h>

#include "base/hash/quick_hash.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace lockstep::internal::sync {

namespace {

using Hashes = std::vector<std::uint64_t>;  // by parameter number

Hashes hashes_of(const Gradients& gradients, const ArrayView& weights) {
  Hashes hashes;
  for (const Slot& slot : gradients.layout().slots()) {
    const ArrayView values = weights.slice(slot.begin, slot.count);
    hashes.push_back(quick_hash({static_cast<const std::byte*>(values.data), values.bytes()}));
  }
  return hashes;
}

bool same_on_all(Group& group, const Hashes& hashes) {
  const auto whole = static_cast<std::int64_t>(quick_hash(hashes));
  std::vector<std::int64_t> extremes{whole, ~whole};  // the maximum of ~x is that of the smallest x
  group.all_reduce(extremes, ReduceOp::max);
  return extremes[0] == ~extremes[1];
}

std::vector<Hashes> gather(Group& group, const Hashes& mine) {
  const auto ranks = static_cast<std::size_t>(group.size());
  Hashes all(mine.size() * ranks);
  group.all_gather(ConstArrayView(mine.data(), mine.size(), DataType::int64),
                   ArrayView(all.data(), all.size(), DataType::int64));
  std::vector<Hashes> by_rank;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * mine.size());
    by_rank.emplace_back(begin, begin + std::ssize(mine));
  }
  return by_rank;
}

/// The first rank of the majority, if more than half of the ranks agree.
std::optional<std::size_t> first_of_most(const std::vector<Hashes>& by_rank) {
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
    if (2 * std::count(by_rank.begin(), by_rank.end(), by_rank[rank]) > std::ssize(by_rank))
      return rank;
  return std::nullopt;
}

}  // namespace

void require_same_weights(Group& group, const Gradients& gradients, const ArrayView& weights,
                          std::size_t step) {
  const Hashes mine = hashes_of(gradients, weights);
  if (same_on_all(group, mine)) return;
  const std::vector<Hashes> all = gather(group, mine);
  const std::optional<std::size_t> most = first_of_most(all);
  const Hashes& right = all[most.value_or(0)];
  std::vector<std::string> where(all.size());  // by rank; empty where nothing differs
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto differs = std::mismatch(right.begin(), right.end(), all[rank].begin()).first;
    if (differs != right.end())
      where[rank] = gradients.parameters()[static_cast<std::size_t>(differs - right.begin())].name;
  }
  throw Error(fmt::format(
      "after step {} the workers' weights are no longer the same: {}, compared with {}. Training "
      "since then is not valid: resume from an earlier checkpoint, and find out what changes the "
      "weights of one worker only",
      step, by_rank(where, "differed first in"),
      most ? "most workers" : "rank 0, since there is no majority"));
}

}  // namespace lockstep::internal::sync
