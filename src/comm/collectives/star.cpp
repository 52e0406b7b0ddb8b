#include "comm/collectives/star.h"

#include "base/bytes.h"
#include "comm/reduce.h"

#include <memory>

namespace lockstep::internal::comm {

void star_broadcast(Transport& transport, ArrayView data, int root, const Deadline& deadline) {
  if (transport.rank() != root) return transport.recv(root, kCollectiveTag, data, deadline);
  for (int peer = 0; peer < transport.size(); ++peer)
    if (peer != root) transport.send(peer, kCollectiveTag, data, deadline);
}

void star_gather(Transport& transport, ConstArrayView mine, ArrayView all, int root,
                 const Deadline& deadline) {
  if (transport.rank() != root) return transport.send(root, kCollectiveTag, mine, deadline);
  for (int peer = 0; peer < transport.size(); ++peer) {
    ArrayView part = all.slice(static_cast<std::size_t>(peer) * mine.count, mine.count);
    if (peer == root)
      copy_bytes(part.data, mine.data, mine.bytes());
    else
      transport.recv(peer, kCollectiveTag, part, deadline);
  }
}

void star_scatter(Transport& transport, ConstArrayView all, ArrayView mine, int root,
                  const Deadline& deadline) {
  if (transport.rank() != root) return transport.recv(root, kCollectiveTag, mine, deadline);
  for (int peer = 0; peer < transport.size(); ++peer) {
    ConstArrayView part = all.slice(static_cast<std::size_t>(peer) * mine.count, mine.count);
    if (peer == root)
      copy_bytes(mine.data, part.data, part.bytes());
    else
      transport.send(peer, kCollectiveTag, part, deadline);
  }
}

void star_reduce(Transport& transport, ArrayView data, ReduceOp op, int root,
                 const Deadline& deadline) {
  if (transport.rank() != root) return transport.send(root, kCollectiveTag, data, deadline);
  const auto incoming = std::make_unique_for_overwrite<std::byte[]>(data.bytes());
  for (int peer = 0; peer < transport.size(); ++peer) {
    if (peer == root) continue;
    transport.recv(peer, kCollectiveTag, {incoming.get(), data.count, data.type}, deadline);
    transport.combine(data, incoming.get(), op);
  }
  finish_average(data, op, transport.size());
}

void star_all_reduce(Transport& transport, ArrayView data, ReduceOp op, const Deadline& deadline) {
  star_reduce(transport, data, op, 0, deadline);
  star_broadcast(transport, data, 0, deadline);
}

}  // namespace lockstep::internal::comm
