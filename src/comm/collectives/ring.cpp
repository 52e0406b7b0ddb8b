#include "comm/collectives/ring.h"

#include "base/bytes.h"
#include "comm/reduce.h"

#include <algorithm>
#include <array>
#include <vector>

namespace lockstep::comm {

namespace {

/// Long enough to hide what a message costs, short enough that what came in is still in the cache
/// when it is added.
constexpr std::size_t kSegmentBytes = 256 * 1024;

class Ring {
 public:
  /// The finished chunk of a rank is rank + `shift`.
  Ring(Transport& transport, ArrayView data, int shift, const Deadline& deadline)
      : transport_(transport), data_(data), shift_(shift), deadline_(deadline) {}

  void scatter_reduce(ReduceOp op) {
    for (int step = 0; step < size() - 1; ++step)
      pass_and_add(chunk(finished() - 1 - step), chunk(finished() - 2 - step), op);
  }

  /// REQUIRES: this rank has its finished chunk, as scatter_reduce leaves it.
  void all_gather() {
    for (int step = 0; step < size() - 1; ++step)
      pass_on(chunk(finished() - step), chunk(finished() - 1 - step));
  }

  /// The chunk that scatter_reduce finishes on this rank.
  ArrayView finished_chunk() const { return chunk(finished()); }

 private:
  int rank() const { return transport_.rank(); }
  int size() const { return transport_.size(); }
  int finished() const { return rank() + shift_; }
  int right() const { return (rank() + 1) % size(); }
  int left() const { return (rank() - 1 + size()) % size(); }

  /// Chunk `index` modulo W. The first (count mod W) chunks are one element longer; chunks may be
  /// empty.
  ArrayView chunk(int index) const {
    const auto ranks = static_cast<std::size_t>(size());
    const auto i = static_cast<std::size_t>((index % size() + size()) % size());
    const std::size_t base = data_.count / ranks;
    const std::size_t longer = data_.count % ranks;
    return data_.slice(i * base + std::min(i, longer), base + (i < longer ? 1 : 0));
  }

  /// A chunk's segments, each a message of its own. An empty chunk has none.
  std::vector<ArrayView> segments_of(ArrayView chunk) const {
    const std::size_t length = kSegmentBytes / size_of(chunk.type);
    std::vector<ArrayView> segments;
    for (std::size_t begin = 0; begin < chunk.count; begin += length)
      segments.push_back(chunk.slice(begin, std::min(length, chunk.count - begin)));
    return segments;
  }

  using Requests = std::vector<std::shared_ptr<Request>>;

  /// Starts before anything is received: with a blocking send the circle would wait for itself.
  Requests start_sending(ArrayView chunk) {
    Requests sends;
    for (const ArrayView& segment : segments_of(chunk))
      sends.push_back(transport_.start_send(right(), kCollectiveTag, Transport::bytes_of(segment)));
    return sends;
  }

  void finish(const Requests& requests) {
    for (const auto& request : requests) transport_.wait(*request, deadline_);
  }

  void pass_on(ArrayView outgoing, ArrayView arriving) {
    const Requests sends = start_sending(outgoing);
    for (const ArrayView& segment : segments_of(arriving))
      transport_.recv(left(), kCollectiveTag, segment, deadline_);
    finish(sends);
  }

  /// While one segment is added, the next is on its way into the other half of the scratch space.
  void pass_and_add(ArrayView outgoing, ArrayView into, ReduceOp op) {
    const Requests sends = start_sending(outgoing);
    const std::vector<ArrayView> segments = segments_of(into);
    scratch_.resize(2 * kSegmentBytes);
    auto place = [&](std::size_t i) { return std::span(scratch_).subspan(i % 2 * kSegmentBytes); };
    auto start_receiving = [&](std::size_t i) {
      return transport_.start_recv(left(), kCollectiveTag, place(i).first(segments[i].bytes()));
    };
    std::shared_ptr<Request> coming = segments.empty() ? nullptr : start_receiving(0);
    for (std::size_t i = 0; i < segments.size(); ++i) {
      transport_.wait(*coming, deadline_);
      if (i + 1 < segments.size()) coming = start_receiving(i + 1);
      reduce_into(segments[i], place(i).data(), op);
    }
    finish(sends);
  }

  Transport& transport_;
  const ArrayView data_;
  const int shift_;
  const Deadline& deadline_;
  std::vector<std::byte> scratch_;
};

}  // namespace

void ring_all_reduce(Transport& transport, ArrayView data, ReduceOp op, const Deadline& deadline) {
  if (transport.size() == 1) return;
  Ring ring(transport, data, 1, deadline);
  ring.scatter_reduce(op);
  finish_average(ring.finished_chunk(), op, transport.size());
  ring.all_gather();
}

void ring_reduce_scatter(Transport& transport, ConstArrayView all, ArrayView mine, ReduceOp op,
                         const Deadline& deadline) {
  // The partial sums need room of their own.
  std::vector<std::byte> sums(all.bytes());
  copy_bytes(sums.data(), all.data, all.bytes());
  Ring ring(transport, {sums.data(), all.count, all.type}, 0, deadline);
  ring.scatter_reduce(op);
  copy_bytes(mine.data, ring.finished_chunk().data, mine.bytes());
  finish_average(mine, op, transport.size());
}

void ring_all_gather(Transport& transport, ConstArrayView mine, ArrayView all,
                     const Deadline& deadline) {
  Ring ring(transport, all, 0, deadline);
  copy_bytes(ring.finished_chunk().data, mine.data, mine.bytes());
  ring.all_gather();
}

}  // namespace lockstep::comm
