#include "comm/collectives/ring.h"

#include "comm/reduce.h"

#include <vector>

namespace lockstep::comm {

namespace {

class Ring {
 public:
  Ring(Transport& transport, ArrayView data, const Deadline& deadline)
      : transport_(transport), data_(data), deadline_(deadline) {}

  void scatter_reduce(ReduceOp op) {
    std::vector<std::byte> incoming(chunk(0).bytes());
    for (int step = 0; step < size() - 1; ++step) {
      ArrayView mine = chunk(rank() - step - 1);
      ArrayView arriving(incoming.data(), mine.count, data_.type);
      pass_on(chunk(rank() - step), arriving);
      reduce_into(mine, incoming.data(), op);
    }
  }

  /// REQUIRES: this rank's finished chunk is rank + 1, as scatter_reduce leaves it.
  void all_gather() {
    for (int step = 0; step < size() - 1; ++step)
      pass_on(chunk(rank() + 1 - step), chunk(rank() - step));
  }

  /// The chunk that scatter_reduce finishes on this rank.
  ArrayView finished_chunk() const { return chunk(rank() + 1); }

 private:
  int rank() const { return transport_.rank(); }
  int size() const { return transport_.size(); }

  /// Chunk `index` modulo W. The first (count mod W) chunks are one element longer; chunks may be
  /// empty.
  ArrayView chunk(int index) const {
    const auto ranks = static_cast<std::size_t>(size());
    const auto i = static_cast<std::size_t>((index % size() + size()) % size());
    const std::size_t base = data_.count / ranks;
    const std::size_t longer = data_.count % ranks;
    return data_.slice(i * base + std::min(i, longer), base + (i < longer ? 1 : 0));
  }

  /// Sends right while receiving from the left: with a blocking send the circle would wait for
  /// itself.
  void pass_on(ArrayView outgoing, ArrayView arriving) {
    const int right = (rank() + 1) % size();
    const int left = (rank() - 1 + size()) % size();
    auto send = transport_.start_send(right, kCollectiveTag, Transport::bytes_of(outgoing));
    transport_.recv(left, kCollectiveTag, arriving, deadline_);
    transport_.wait(*send, deadline_);
  }

  Transport& transport_;
  ArrayView data_;
  const Deadline& deadline_;
};

}  // namespace

void ring_all_reduce(Transport& transport, ArrayView data, ReduceOp op, const Deadline& deadline) {
  if (transport.size() == 1) return;
  Ring ring(transport, data, deadline);
  ring.scatter_reduce(op);
  finish_average(ring.finished_chunk(), op, transport.size());
  ring.all_gather();
}

}  // namespace lockstep::comm
