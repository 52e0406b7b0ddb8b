#include "comm/operations.h"

#include <lockstep/error.h>

#include "comm/auto_table.h"
#include "comm/collectives/halving_doubling.h"
#include "comm/collectives/ring.h"
#include "comm/collectives/star.h"
#include "comm/collectives/tree.h"

#include <fmt/format.h>

namespace lockstep::internal::comm {

namespace {

void require_rank(const Transport& transport, int rank, std::string_view what) {
  if (rank < 0 || rank >= transport.size())
    throw UsageError(fmt::format("{} is rank {}, but the group has ranks 0 to {}", what, rank,
                                 transport.size() - 1));
}

void require_averageable(ReduceOp op, DataType type) {
  if (op == ReduceOp::average && !is_floating(type))
    throw UsageError(fmt::format("{} cannot be averaged: use sum", name_of(type)));
}

/// Throws unless `all` has a part for every rank and the same type as `mine`.
void require_parts(const Transport& transport, ConstArrayView mine, ConstArrayView all,
                   std::string_view operation) {
  const std::size_t expected = mine.count * static_cast<std::size_t>(transport.size());
  if (all.count != expected || all.type != mine.type)
    throw UsageError(
        fmt::format("{} on rank {} needs {} {} for {} ranks' parts of {}, but got {} {}", operation,
                    transport.rank(), expected, name_of(mine.type), transport.size(), mine.count,
                    all.count, name_of(all.type)));
}

/// The algorithm to use: the requested one, if the operation and the transport have it; for
/// `automatic` the best one for this transport and, in an all_reduce, for this many ranks and
/// bytes.
Algorithm choose(Operation operation, std::string_view name, Algorithm asked, Transport& transport,
                 std::size_t bytes) {
  const Offers offers = offers_of(transport);
  require_algorithm(operation, name, asked, offers, transport.name());
  if (asked != Algorithm::automatic) return asked;
  if (operation == Operation::all_reduce)
    return pick(auto_table(), transport.name(), offers, transport.size(), bytes);
  return algorithms_of(operation, offers).front();
}

Watch watch_of(Transport& transport, const Deadline& deadline) {
  return [&transport, &deadline] { transport.watch(deadline); };
}

/// One collective on one transport, when its turn has come.
struct Turn {
  explicit Turn(GroupCore& core) : transport(core.transport()), deadline(core.deadline()) {}
  Transport& transport;
  const Deadline deadline;
  const Watch watch = watch_of(transport, deadline);
};

}  // namespace

Offers offers_of(Transport& transport) {
  return {.shared_memory = transport.direct() != nullptr,
          .hierarchy = transport.hierarchical() != nullptr,
          .native = transport.native() != nullptr};
}

void require_array(const Transport& transport, ConstArrayView array, std::string_view operation) {
  if (array.data == nullptr && array.count > 0)
    throw UsageError(
        fmt::format("{} on rank {} got a null pointer for {} {}: pass the array, or a count of 0",
                    operation, transport.rank(), array.count, name_of(array.type)));
}

void require_peer(const Transport& transport, int rank, int tag, std::string_view what) {
  require_rank(transport, rank, what);
  if (rank == transport.rank())
    throw UsageError(fmt::format("{} is rank {} itself: a rank cannot message itself", what, rank));
  if (tag < 0) throw UsageError(fmt::format("tag {} is negative: tags start at 0", tag));
}

GroupCore::Collective all_reduce(GroupCore& core, ArrayView data, ReduceOp op,
                                 Algorithm algorithm) {
  require_array(core.transport(), data, "all_reduce");
  require_averageable(op, data.type);
  const Fingerprint call{.operation = Operation::all_reduce,
                         .type = data.type,
                         .reduce = op,
                         .algorithm = choose(Operation::all_reduce, "all_reduce", algorithm,
                                             core.transport(), data.bytes()),
                         .count = data.count};
  return {call, [&core, data, op](const Fingerprint& call) {
            const Turn turn(core);
            // These two compare the fingerprints themselves.
            if (call.algorithm == Algorithm::direct)
              return turn.transport.direct()->all_reduce(call, data, op, turn.deadline);
            if (call.algorithm == Algorithm::hierarchical)
              return turn.transport.hierarchical()->all_reduce(call, data, op, turn.deadline);
            turn.transport.agree(call, turn.deadline);
            switch (call.algorithm) {
              case Algorithm::star:
                return star_all_reduce(turn.transport, data, op, turn.deadline);
              case Algorithm::tree:
                return tree_all_reduce(turn.transport, data, op, turn.deadline);
              case Algorithm::halving_doubling:
                return halving_doubling_all_reduce(turn.transport, data, op, turn.deadline);
              case Algorithm::native:
                return turn.transport.native()->all_reduce(data, op, turn.watch);
              default:
                return ring_all_reduce(turn.transport, data, op, turn.deadline);
            }
          }};
}

GroupCore::Collective reduce(GroupCore& core, ArrayView data, ReduceOp op, int root,
                             Algorithm algorithm) {
  require_rank(core.transport(), root, "reduce's root");
  require_array(core.transport(), data, "reduce");
  require_averageable(op, data.type);
  const Fingerprint call{
      .operation = Operation::reduce,
      .type = data.type,
      .reduce = op,
      .algorithm = choose(Operation::reduce, "reduce", algorithm, core.transport(), data.bytes()),
      .root = root,
      .count = data.count};
  return {call, [&core, data, op, root](const Fingerprint& call) {
            const Turn turn(core);
            turn.transport.agree(call, turn.deadline);
            switch (call.algorithm) {
              case Algorithm::star:
                return star_reduce(turn.transport, data, op, root, turn.deadline);
              case Algorithm::native:
                return turn.transport.native()->reduce(data, op, root, turn.watch);
              default:
                return tree_reduce(turn.transport, data, op, root, turn.deadline);
            }
          }};
}

GroupCore::Collective reduce_scatter(GroupCore& core, ConstArrayView all, ArrayView mine,
                                     ReduceOp op, Algorithm algorithm) {
  require_array(core.transport(), all, "reduce_scatter");
  require_array(core.transport(), mine, "reduce_scatter");
  require_averageable(op, mine.type);
  require_parts(core.transport(), mine, all, "reduce_scatter");
  const Fingerprint call{.operation = Operation::reduce_scatter,
                         .type = mine.type,
                         .reduce = op,
                         .algorithm = choose(Operation::reduce_scatter, "reduce_scatter", algorithm,
                                             core.transport(), all.bytes()),
                         .count = mine.count};
  return {call, [&core, all, mine, op](const Fingerprint& call) {
            const Turn turn(core);
            if (call.algorithm == Algorithm::direct)
              return turn.transport.direct()->reduce_scatter(call, all, mine, op, turn.deadline);
            turn.transport.agree(call, turn.deadline);
            if (call.algorithm == Algorithm::native)
              return turn.transport.native()->reduce_scatter(all, mine, op, turn.watch);
            if (call.algorithm == Algorithm::halving_doubling)
              return halving_reduce_scatter(turn.transport, all, mine, op, turn.deadline);
            ring_reduce_scatter(turn.transport, all, mine, op, turn.deadline);
          }};
}

GroupCore::Collective broadcast(GroupCore& core, ArrayView data, int root, Algorithm algorithm) {
  require_rank(core.transport(), root, "broadcast's root");
  require_array(core.transport(), data, "broadcast");
  const Fingerprint call{.operation = Operation::broadcast,
                         .type = data.type,
                         .algorithm = choose(Operation::broadcast, "broadcast", algorithm,
                                             core.transport(), data.bytes()),
                         .root = root,
                         .count = data.count};
  return {call, [&core, data, root](const Fingerprint& call) {
            const Turn turn(core);
            if (call.algorithm == Algorithm::direct)
              return turn.transport.direct()->broadcast(call, data, root, turn.deadline);
            turn.transport.agree(call, turn.deadline);
            switch (call.algorithm) {
              case Algorithm::star:
                return star_broadcast(turn.transport, data, root, turn.deadline);
              case Algorithm::native:
                return turn.transport.native()->broadcast(data, root, turn.watch);
              default:
                return tree_broadcast(turn.transport, data, root, turn.deadline);
            }
          }};
}

GroupCore::Collective all_gather(GroupCore& core, ConstArrayView mine, ArrayView all,
                                 Algorithm algorithm) {
  require_array(core.transport(), mine, "all_gather");
  require_array(core.transport(), all, "all_gather");
  require_parts(core.transport(), mine, all, "all_gather");
  const Fingerprint call{.operation = Operation::all_gather,
                         .type = mine.type,
                         .algorithm = choose(Operation::all_gather, "all_gather", algorithm,
                                             core.transport(), all.bytes()),
                         .count = mine.count};
  return {call, [&core, mine, all](const Fingerprint& call) {
            const Turn turn(core);
            if (call.algorithm == Algorithm::direct)
              return turn.transport.direct()->all_gather(call, mine, all, turn.deadline);
            turn.transport.agree(call, turn.deadline);
            if (call.algorithm == Algorithm::native)
              return turn.transport.native()->all_gather(mine, all, turn.watch);
            ring_all_gather(turn.transport, mine, all, turn.deadline);
          }};
}

GroupCore::Collective gather(GroupCore& core, ConstArrayView mine, ArrayView all, int root) {
  require_rank(core.transport(), root, "gather's root");
  require_array(core.transport(), mine, "gather");
  if (core.transport().rank() == root) {
    require_array(core.transport(), all, "gather");
    require_parts(core.transport(), mine, all, "gather");
  }
  const Fingerprint call{
      .operation = Operation::gather, .type = mine.type, .root = root, .count = mine.count};
  return {call, [&core, mine, all, root](const Fingerprint& call) {
            const Turn turn(core);
            turn.transport.agree(call, turn.deadline);
            if (NativeCollectives* native = turn.transport.native())
              return native->gather(mine, all, root, turn.watch);
            star_gather(turn.transport, mine, all, root, turn.deadline);
          }};
}

GroupCore::Collective scatter(GroupCore& core, ConstArrayView all, ArrayView mine, int root) {
  require_rank(core.transport(), root, "scatter's root");
  require_array(core.transport(), mine, "scatter");
  if (core.transport().rank() == root) {
    require_array(core.transport(), all, "scatter");
    require_parts(core.transport(), mine, all, "scatter");
  }
  const Fingerprint call{
      .operation = Operation::scatter, .type = mine.type, .root = root, .count = mine.count};
  return {call, [&core, all, mine, root](const Fingerprint& call) {
            const Turn turn(core);
            turn.transport.agree(call, turn.deadline);
            if (NativeCollectives* native = turn.transport.native())
              return native->scatter(all, mine, root, turn.watch);
            star_scatter(turn.transport, all, mine, root, turn.deadline);
          }};
}

GroupCore::Collective barrier(GroupCore& core) {
  return {{.operation = Operation::barrier},
          [&core](const Fingerprint& call) { core.transport().agree(call, core.deadline()); }};
}

}  // namespace lockstep::internal::comm
