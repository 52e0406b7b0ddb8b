#include "comm/collectives/hierarchical.h"

#include "comm/auto_table.h"
#include "comm/collectives/halving_doubling.h"
#include "comm/collectives/ring.h"
#include "comm/collectives/tree.h"
#include "comm/reduce.h"

namespace lockstep::internal::comm {

namespace {

ReduceOp without_average(ReduceOp op) {
  return op == ReduceOp::average ? ReduceOp::sum : op;
}

void reduce_on_lane(const HostPlace& host, Transport& lane, ArrayView data, ReduceOp op,
                    const Deadline& deadline) {
  const ReduceOp partial = without_average(op);
  switch (pick(auto_table(), lane.name(), Offers{}, lane.size(), data.bytes())) {
    case Algorithm::tree:
      tree_all_reduce(lane, data, partial, deadline);
      break;
    case Algorithm::halving_doubling:
      halving_doubling_all_reduce(lane, data, partial, deadline);
      break;
    default:
      ring_all_reduce(lane, data, partial, deadline);
  }
  finish_average(data, op, host.world);
}

void reduce_by_lanes(const HostPlace& host, const Fingerprint& call, ArrayView data, ReduceOp op,
                     const Deadline& deadline) {
  const std::size_t length = data.count / static_cast<std::size_t>(host.ranks);
  const ArrayView mine = data.slice(length * static_cast<std::size_t>(host.rank), length);
  host.local.reduce_scatter(call, data, mine, without_average(op), deadline);
  reduce_on_lane(host, *host.lane, mine, op, deadline);
  host.local.all_gather(call, mine, data, deadline);
}

void reduce_by_leaders(const HostPlace& host, const Fingerprint& call, ArrayView data, ReduceOp op,
                       const Deadline& deadline) {
  host.local.all_reduce(call, data, without_average(op), deadline);
  if (host.leaders) reduce_on_lane(host, *host.leaders, data, op, deadline);
  host.local.broadcast(call, data, 0, deadline);
}

}  // namespace

void hierarchical_all_reduce(const HostPlace& host, const Fingerprint& call, ArrayView data,
                             ReduceOp op, const Deadline& deadline) {
  const auto ranks = static_cast<std::size_t>(host.ranks);
  const std::size_t by_lanes = host.lane ? data.count / ranks * ranks : 0;
  if (by_lanes > 0) reduce_by_lanes(host, call, data.slice(0, by_lanes), op, deadline);
  if (by_lanes < data.count)
    reduce_by_leaders(host, call, data.slice(by_lanes, data.count - by_lanes), op, deadline);
}

}  // namespace lockstep::internal::comm
