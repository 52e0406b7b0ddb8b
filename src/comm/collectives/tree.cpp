#include "comm/collectives/tree.h"

#include "comm/reduce.h"

#include <bit>
#include <memory>

namespace lockstep::internal::comm {

namespace {

/// Adds up all ranks' arrays on rank 0, and divides there for an average.
void reduce_to_zero(Transport& transport, ArrayView data, ReduceOp op, const Deadline& deadline) {
  const int rank = transport.rank();
  std::unique_ptr<std::byte[]> incoming;
  for (int distance = 1; distance < transport.size(); distance *= 2) {
    if ((rank & distance) != 0)
      return transport.send(rank - distance, kCollectiveTag, data, deadline);
    if (rank + distance >= transport.size()) continue;
    if (!incoming) incoming = std::make_unique_for_overwrite<std::byte[]>(data.bytes());
    transport.recv(rank + distance, kCollectiveTag, {incoming.get(), data.count, data.type},
                   deadline);
    transport.combine(data, incoming.get(), op);
  }
  finish_average(data, op, transport.size());
}

}  // namespace

void tree_broadcast(Transport& transport, ArrayView data, int root, const Deadline& deadline) {
  const int size = transport.size();
  // Ranks are numbered from the root, so that the root is the top of the tree.
  const int number = (transport.rank() - root + size) % size;
  auto rank_of = [&](int its_number) { return (its_number + root) % size; };
  auto top = static_cast<int>(std::bit_ceil(static_cast<unsigned>(size)));
  int distance = top;
  if (number != 0) {
    distance = number & -number;  // the lowest set bit: the distance to the parent
    transport.recv(rank_of(number - distance), kCollectiveTag, data, deadline);
  }
  for (distance /= 2; distance > 0; distance /= 2)
    if (number + distance < size)
      transport.send(rank_of(number + distance), kCollectiveTag, data, deadline);
}

void tree_reduce(Transport& transport, ArrayView data, ReduceOp op, int root,
                 const Deadline& deadline) {
  reduce_to_zero(transport, data, op, deadline);
  if (root == 0) return;
  if (transport.rank() == 0) transport.send(root, kCollectiveTag, data, deadline);
  if (transport.rank() == root) transport.recv(0, kCollectiveTag, data, deadline);
}

void tree_all_reduce(Transport& transport, ArrayView data, ReduceOp op, const Deadline& deadline) {
  reduce_to_zero(transport, data, op, deadline);
  tree_broadcast(transport, data, 0, deadline);
}

}  // namespace lockstep::internal::comm
