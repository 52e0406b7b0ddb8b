#include "comm/operations.h"

#include <lockstep/error.h>

#include "base/text.h"
#include "comm/collectives/halving_doubling.h"
#include "comm/collectives/ring.h"
#include "comm/collectives/star.h"
#include "comm/collectives/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace lockstep::comm {

namespace {

void require_rank(const Transport& transport, int rank, std::string_view what) {
  if (rank < 0 || rank >= transport.size())
    throw UsageError(fmt::format("{} is rank {}, but the group has ranks 0 to {}", what, rank,
                                 transport.size() - 1));
}

void require_averageable(ReduceOp op, DataType type) {
  if (op == ReduceOp::average && !is_floating(type))
    throw UsageError(fmt::format("{} cannot be averaged: take sum", name_of(type)));
}

/// Whether `all` has a part for every rank, and of one type with `mine`.
void require_parts(const Transport& transport, ConstArrayView mine, ConstArrayView all,
                   std::string_view operation) {
  const std::size_t expected = mine.count * static_cast<std::size_t>(transport.size());
  if (all.count != expected || all.type != mine.type)
    throw UsageError(
        fmt::format("{} on rank {} needs {} {} for {} ranks' parts of {}, but got {} {}", operation,
                    transport.rank(), expected, name_of(mine.type), transport.size(), mine.count,
                    all.count, name_of(all.type)));
}

/// The algorithm to use: the one asked for if the operation and the transport have it; for
/// `automatic` the first of `known` that they have, which therefore come with the best first.
Algorithm choose(Algorithm asked, Transport& transport, std::string_view operation,
                 std::initializer_list<Algorithm> known) {
  auto has = [&](Algorithm algorithm) {
    return algorithm != Algorithm::direct || transport.direct() != nullptr;
  };
  if (asked == Algorithm::automatic) return *std::find_if(known.begin(), known.end(), has);
  if (std::find(known.begin(), known.end(), asked) == known.end()) {
    std::vector<std::string> names;
    for (Algorithm algorithm : known) names.emplace_back(name_of(algorithm));
    throw UsageError(fmt::format("{} has no algorithm '{}': there are {}", operation,
                                 name_of(asked), enumerate(names)));
  }
  if (!has(asked))
    throw UsageError(fmt::format(
        "algorithm 'direct' needs ranks that share memory; the {} transport has none: take auto",
        transport.name()));
  return asked;
}

/// Without shared memory: few steps while a message's latency dominates, few bytes after that.
std::initializer_list<Algorithm> all_reduce_choices(std::size_t bytes) {
  using enum Algorithm;
  static constexpr std::initializer_list<Algorithm> kShort{direct, tree, halving_doubling, ring,
                                                           star};
  static constexpr std::initializer_list<Algorithm> kLong{direct, ring, halving_doubling, tree,
                                                          star};
  return bytes <= 64 * 1024 ? kShort : kLong;
}

}  // namespace

void require_peer(const Transport& transport, int rank, int tag, std::string_view what) {
  require_rank(transport, rank, what);
  if (rank == transport.rank())
    throw UsageError(fmt::format("{} is rank {} itself: a rank cannot message itself", what, rank));
  if (tag < 0) throw UsageError(fmt::format("tag {} is negative: tags start at 0", tag));
}

GroupCore::Collective all_reduce(GroupCore& core, ArrayView data, ReduceOp op,
                                 Algorithm algorithm) {
  require_averageable(op, data.type);
  Fingerprint call{.operation = Operation::all_reduce,
                   .type = data.type,
                   .reduce = op,
                   .algorithm = choose(algorithm, core.transport(), "all_reduce",
                                       all_reduce_choices(data.bytes())),
                   .count = data.count};
  return [&core, data, op, call](std::uint64_t sequence) mutable {
    Transport& transport = core.transport();
    const Deadline deadline = core.deadline();
    call.sequence = sequence;
    if (call.algorithm == Algorithm::direct)
      return transport.direct()->all_reduce(call, data, op, deadline);
    transport.agree(call, deadline);
    switch (call.algorithm) {
      case Algorithm::star:
        return star_all_reduce(transport, data, op, deadline);
      case Algorithm::tree:
        return tree_all_reduce(transport, data, op, deadline);
      case Algorithm::halving_doubling:
        return halving_doubling_all_reduce(transport, data, op, deadline);
      default:
        return ring_all_reduce(transport, data, op, deadline);
    }
  };
}

GroupCore::Collective reduce(GroupCore& core, ArrayView data, ReduceOp op, int root,
                             Algorithm algorithm) {
  require_rank(core.transport(), root, "reduce's root");
  require_averageable(op, data.type);
  Fingerprint call{.operation = Operation::reduce,
                   .type = data.type,
                   .reduce = op,
                   .algorithm = choose(algorithm, core.transport(), "reduce",
                                       {Algorithm::tree, Algorithm::star}),
                   .root = root,
                   .count = data.count};
  return [&core, data, op, root, call](std::uint64_t sequence) mutable {
    const Deadline deadline = core.deadline();
    call.sequence = sequence;
    core.transport().agree(call, deadline);
    if (call.algorithm == Algorithm::star)
      return star_reduce(core.transport(), data, op, root, deadline);
    tree_reduce(core.transport(), data, op, root, deadline);
  };
}

GroupCore::Collective reduce_scatter(GroupCore& core, ConstArrayView all, ArrayView mine,
                                     ReduceOp op, Algorithm algorithm) {
  require_averageable(op, mine.type);
  require_parts(core.transport(), mine, all, "reduce_scatter");
  Fingerprint call{.operation = Operation::reduce_scatter,
                   .type = mine.type,
                   .reduce = op,
                   .algorithm = choose(algorithm, core.transport(), "reduce_scatter",
                                       {Algorithm::direct, Algorithm::ring}),
                   .count = mine.count};
  return [&core, all, mine, op, call](std::uint64_t sequence) mutable {
    const Deadline deadline = core.deadline();
    call.sequence = sequence;
    if (call.algorithm == Algorithm::direct)
      return core.transport().direct()->reduce_scatter(call, all, mine, op, deadline);
    core.transport().agree(call, deadline);
    ring_reduce_scatter(core.transport(), all, mine, op, deadline);
  };
}

GroupCore::Collective broadcast(GroupCore& core, ArrayView data, int root, Algorithm algorithm) {
  require_rank(core.transport(), root, "broadcast's root");
  Fingerprint call{.operation = Operation::broadcast,
                   .type = data.type,
                   .algorithm = choose(algorithm, core.transport(), "broadcast",
                                       {Algorithm::direct, Algorithm::tree, Algorithm::star}),
                   .root = root,
                   .count = data.count};
  return [&core, data, root, call](std::uint64_t sequence) mutable {
    const Deadline deadline = core.deadline();
    call.sequence = sequence;
    if (call.algorithm == Algorithm::direct)
      return core.transport().direct()->broadcast(call, data, root, deadline);
    core.transport().agree(call, deadline);
    if (call.algorithm == Algorithm::star)
      return star_broadcast(core.transport(), data, root, deadline);
    tree_broadcast(core.transport(), data, root, deadline);
  };
}

GroupCore::Collective all_gather(GroupCore& core, ConstArrayView mine, ArrayView all,
                                 Algorithm algorithm) {
  require_parts(core.transport(), mine, all, "all_gather");
  Fingerprint call{.operation = Operation::all_gather,
                   .type = mine.type,
                   .algorithm = choose(algorithm, core.transport(), "all_gather",
                                       {Algorithm::direct, Algorithm::ring}),
                   .count = mine.count};
  return [&core, mine, all, call](std::uint64_t sequence) mutable {
    const Deadline deadline = core.deadline();
    call.sequence = sequence;
    if (call.algorithm == Algorithm::direct)
      return core.transport().direct()->all_gather(call, mine, all, deadline);
    core.transport().agree(call, deadline);
    ring_all_gather(core.transport(), mine, all, deadline);
  };
}

GroupCore::Collective gather(GroupCore& core, ConstArrayView mine, ArrayView all, int root) {
  require_rank(core.transport(), root, "gather's root");
  if (core.transport().rank() == root) require_parts(core.transport(), mine, all, "gather");
  return [&core, mine, all, root](std::uint64_t sequence) {
    const Deadline deadline = core.deadline();
    core.transport().agree({.operation = Operation::gather,
                            .type = mine.type,
                            .root = root,
                            .count = mine.count,
                            .sequence = sequence},
                           deadline);
    star_gather(core.transport(), mine, all, root, deadline);
  };
}

GroupCore::Collective scatter(GroupCore& core, ConstArrayView all, ArrayView mine, int root) {
  require_rank(core.transport(), root, "scatter's root");
  if (core.transport().rank() == root) require_parts(core.transport(), mine, all, "scatter");
  return [&core, all, mine, root](std::uint64_t sequence) {
    const Deadline deadline = core.deadline();
    core.transport().agree({.operation = Operation::scatter,
                            .type = mine.type,
                            .root = root,
                            .count = mine.count,
                            .sequence = sequence},
                           deadline);
    star_scatter(core.transport(), all, mine, root, deadline);
  };
}

GroupCore::Collective barrier(GroupCore& core) {
  return [&core](std::uint64_t sequence) {
    core.transport().agree({.operation = Operation::barrier, .sequence = sequence},
                           core.deadline());
  };
}

}  // namespace lockstep::comm
