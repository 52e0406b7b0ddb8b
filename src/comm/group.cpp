#include <lockstep/error.h>
#include <lockstep/group.h>

#include "comm/collectives/ring.h"
#include "comm/collectives/star.h"
#include "comm/group_core.h"

#include <fmt/format.h>

namespace lockstep {

namespace {

using comm::Fingerprint;
using comm::GroupCore;
using comm::Operation;
using comm::Transport;

void require_rank(const Group& group, int rank, std::string_view what) {
  if (rank < 0 || rank >= group.size())
    throw UsageError(fmt::format("{} is rank {}, but the group has ranks 0 to {}", what, rank,
                                 group.size() - 1));
}

void require_peer(const Group& group, int rank, int tag, std::string_view what) {
  require_rank(group, rank, what);
  if (rank == group.rank())
    throw UsageError(fmt::format("{} is rank {} itself: a rank cannot message itself", what, rank));
  if (tag < 0) throw UsageError(fmt::format("tag {} is negative: tags start at 0", tag));
}

/// Whether `all` has a part for every rank, and of one type with `mine`.
void require_parts(const Group& group, ConstArrayView mine, ConstArrayView all,
                   std::string_view operation) {
  const std::size_t expected = mine.count * static_cast<std::size_t>(group.size());
  if (all.count != expected || all.type != mine.type)
    throw UsageError(
        fmt::format("{} on root rank {} needs {} {} for {} ranks' parts of {}, but got {} {}",
                    operation, group.rank(), expected, name_of(mine.type), group.size(), mine.count,
                    all.count, name_of(all.type)));
}

Algorithm choose(Algorithm algorithm, Transport& transport) {
  if (algorithm == Algorithm::automatic)
    return transport.direct() != nullptr ? Algorithm::direct : Algorithm::ring;
  if (algorithm == Algorithm::direct && transport.direct() == nullptr)
    throw UsageError(fmt::format(
        "algorithm 'direct' needs ranks that share memory; the {} transport has none: take auto",
        transport.name()));
  return algorithm;
}

GroupCore::Collective all_reduce_with(GroupCore& core, ArrayView data, ReduceOp op,
                                      Algorithm algorithm) {
  if (op == ReduceOp::average && data.type != DataType::float32 && data.type != DataType::float64)
    throw UsageError(fmt::format("all_reduce cannot average {}: take sum", name_of(data.type)));
  const Algorithm chosen = choose(algorithm, core.transport());
  return [&core, data, op, chosen](std::uint64_t sequence) {
    Transport& transport = core.transport();
    const Deadline deadline = core.deadline();
    const Fingerprint call{.operation = Operation::all_reduce,
                           .type = data.type,
                           .reduce = op,
                           .algorithm = chosen,
                           .count = data.count,
                           .sequence = sequence};
    if (chosen == Algorithm::direct)
      return transport.direct()->all_reduce(call, data, op, deadline);
    transport.agree(call, deadline);
    if (chosen == Algorithm::star) return star_all_reduce(transport, data, op, deadline);
    ring_all_reduce(transport, data, op, deadline);
  };
}

}  // namespace

int Group::rank() const {
  return core_->transport().rank();
}

int Group::size() const {
  return core_->transport().size();
}

std::string_view Group::transport() const {
  return core_->transport().name();
}

Memory Group::allocate(std::size_t bytes) {
  Memory memory;
  core_->run([&](std::uint64_t sequence) {
    const Fingerprint call{.operation = Operation::allocate, .count = bytes, .sequence = sequence};
    memory = core_->transport().allocate(bytes, call, core_->deadline());
  });
  return memory;
}

void Group::all_reduce(ArrayView data, ReduceOp op, Algorithm algorithm) {
  core_->run(all_reduce_with(*core_, data, op, algorithm));
}

Work Group::all_reduce_async(ArrayView data, ReduceOp op, Algorithm algorithm) {
  return Work(core_->submit(all_reduce_with(*core_, data, op, algorithm)));
}

void Group::broadcast(ArrayView data, int root) {
  require_rank(*this, root, "broadcast's root");
  core_->run([&](std::uint64_t sequence) {
    const Deadline deadline = core_->deadline();
    core_->transport().agree({.operation = Operation::broadcast,
                              .type = data.type,
                              .root = root,
                              .count = data.count,
                              .sequence = sequence},
                             deadline);
    star_broadcast(core_->transport(), data, root, deadline);
  });
}

void Group::gather(ConstArrayView mine, ArrayView all, int root) {
  require_rank(*this, root, "gather's root");
  if (rank() == root) require_parts(*this, mine, all, "gather");
  core_->run([&](std::uint64_t sequence) {
    const Deadline deadline = core_->deadline();
    core_->transport().agree({.operation = Operation::gather,
                              .type = mine.type,
                              .root = root,
                              .count = mine.count,
                              .sequence = sequence},
                             deadline);
    star_gather(core_->transport(), mine, all, root, deadline);
  });
}

void Group::scatter(ConstArrayView all, ArrayView mine, int root) {
  require_rank(*this, root, "scatter's root");
  if (rank() == root) require_parts(*this, mine, all, "scatter");
  core_->run([&](std::uint64_t sequence) {
    const Deadline deadline = core_->deadline();
    core_->transport().agree({.operation = Operation::scatter,
                              .type = mine.type,
                              .root = root,
                              .count = mine.count,
                              .sequence = sequence},
                             deadline);
    star_scatter(core_->transport(), all, mine, root, deadline);
  });
}

void Group::barrier() {
  core_->run([&](std::uint64_t sequence) {
    core_->transport().agree({.operation = Operation::barrier, .sequence = sequence},
                             core_->deadline());
  });
}

void Group::send(ConstArrayView data, int to, int tag) {
  isend(data, to, tag).wait();
}

void Group::recv(ArrayView data, int from, int tag) {
  irecv(data, from, tag).wait();
}

Work Group::isend(ConstArrayView data, int to, int tag) {
  require_peer(*this, to, tag, "the receiver");
  return Work(core_->start(
      [&] { return core_->transport().start_send(to, tag, Transport::bytes_of(data)); }));
}

Work Group::irecv(ArrayView data, int from, int tag) {
  require_peer(*this, from, tag, "the sender");
  return Work(core_->start(
      [&] { return core_->transport().start_recv(from, tag, Transport::bytes_of(data)); }));
}

Counters Group::counters() const {
  return core_->counters();
}

void Work::wait() {
  if (state_) state_->wait();
}

bool Work::done() const {
  return !state_ || state_->done();
}

}  // namespace lockstep
