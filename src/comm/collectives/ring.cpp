#include "comm/collectives/ring.h"

#include "base/bytes.h"
#include "comm/reduce.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace lockstep::internal::comm {

namespace {

/// Steps are numbered through both phases: in step s a rank sends chunk (finished - 1 - s) and
/// receives the chunk below it, which it sends in step s + 1. In the first W-1 steps it adds its
/// own part to the received chunk; in the later steps the received chunk is finished. Each segment
/// is forwarded as soon as it has arrived, so that no link waits for the end of a step.
class Ring {
 public:
  /// The finished chunk of a rank has the number rank + `shift`.
  Ring(Transport& transport, ArrayView data, int shift, ReduceOp op, const Deadline& deadline)
      : transport_(transport), data_(data), shift_(shift), op_(op), deadline_(deadline) {}

  /// Leaves the sums of all ranks, or their average, in the finished chunk.
  void scatter_reduce() { run(0, size() - 1); }

  /// REQUIRES: this rank has its finished chunk, as scatter_reduce leaves it.
  void all_gather() { run(size() - 1, 2 * (size() - 1)); }

  /// Both phases, without a pause between them.
  void all_reduce() { run(0, 2 * (size() - 1)); }

  /// The chunk that scatter_reduce finishes on this rank.
  ArrayView finished_chunk() const { return chunk(finished()); }

 private:
  /// A segment that passes through this rank.
  struct Passage {
    int step = 0;  ///< the step in which it arrives
    ArrayView place;
    std::size_t sent_before = kNever;  ///< the earlier passage that was sent from the same place
    std::shared_ptr<Request> arrival;
    std::shared_ptr<Request> departure;
  };
  static constexpr std::size_t kNever = static_cast<std::size_t>(-1);

  int rank() const { return transport_.rank(); }
  int size() const { return transport_.size(); }
  int finished() const { return rank() + shift_; }
  int right() const { return (rank() + 1) % size(); }
  int left() const { return (rank() - 1 + size()) % size(); }
  bool adds(const Passage& passage) const { return passage.step < size() - 1; }

  /// Chunk `index` modulo W. The first (count mod W) chunks are one element longer; chunks may be
  /// empty.
  ArrayView chunk(int index) const {
    const auto ranks = static_cast<std::size_t>(size());
    const auto i = static_cast<std::size_t>((index % size() + size()) % size());
    const std::size_t base = data_.count / ranks;
    const std::size_t longer = data_.count % ranks;
    return data_.slice(i * base + std::min(i, longer), base + (i < longer ? 1 : 0));
  }

  /// The chunk that arrives in a step, cut into segments of one message each. An empty chunk has
  /// none.
  void plan_step(int step) {
    const ArrayView arriving = chunk(finished() - 2 - step);
    const std::size_t length = kRingSegmentBytes / size_of(arriving.type);
    for (std::size_t begin = 0; begin < arriving.count; begin += length)
      passages_.push_back(
          {step, arriving.slice(begin, std::min(length, arriving.count - begin)), kNever, {}, {}});
  }

  /// The chunk sent in the first step is local: it counts as the arrival of the step before.
  void plan(int first, int end) {
    std::vector<std::size_t> begin_of_step;
    for (int step = first - 1; step < end; ++step) {
      begin_of_step.push_back(passages_.size());
      plan_step(step);
      const int turn_before = step - size();  // the same chunk, one turn of the ring earlier
      if (turn_before < first - 1) continue;
      const std::size_t before = begin_of_step[static_cast<std::size_t>(turn_before - first + 1)];
      for (std::size_t i = begin_of_step.back(); i < passages_.size(); ++i)
        passages_[i].sent_before = before + i - begin_of_step.back();
    }
  }

  void run(int first, int end) {
    plan(first, end);
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(kRingWindow * stride());
    std::size_t ready = 0;  // number of passages whose receive was started
    for (std::size_t i = 0; i < passages_.size(); ++i) {
      while (ready < std::min(i + kRingWindow, passages_.size()) &&
             get_ready(ready, first, ready == i))
        ++ready;
      Passage& passage = passages_[i];
      if (passage.arrival) take_in(i);
      if (passage.step + 1 < end)
        passage.departure =
            transport_.start_send(right(), kCollectiveTag, Transport::bytes_of(passage.place));
    }
    for (const Passage& passage : passages_)
      if (passage.departure) transport_.wait(*passage.departure, deadline_);
  }

  std::span<std::byte> scratch_of(std::size_t i) {
    return {scratch_.get() + i % kRingWindow * stride(), passages_[i].place.bytes()};
  }
  /// The first chunk is the longest.
  std::size_t stride() const { return std::min(kRingSegmentBytes, chunk(0).bytes()); }

  /// Starts to receive a segment. Returns false, unless `must`, if its place is still being sent
  /// from.
  bool get_ready(std::size_t i, int first, bool must) {
    Passage& passage = passages_[i];
    if (passage.step < first) return true;
    if (passage.sent_before != kNever && !has_left(passage.sent_before, must)) return false;
    passage.arrival = transport_.start_recv(
        left(), kCollectiveTag, adds(passage) ? scratch_of(i) : Transport::bytes_of(passage.place));
    return true;
  }

  bool has_left(std::size_t i, bool must) {
    const auto& departure = passages_[i].departure;
    if (must) transport_.wait(*departure, deadline_);
    return must || (departure && transport_.done(*departure));
  }

  void take_in(std::size_t i) {
    const Passage& passage = passages_[i];
    transport_.wait(*passage.arrival, deadline_);
    if (!adds(passage)) return;
    transport_.combine(passage.place, scratch_of(i).data(), op_);
    if (passage.step == size() - 2) finish_average(passage.place, op_, size());
  }

  Transport& transport_;
  const ArrayView data_;
  const int shift_;
  const ReduceOp op_;
  const Deadline& deadline_;
  std::unique_ptr<std::byte[]> scratch_;  ///< outlives the requests, which may still write to it
  std::vector<Passage> passages_;
};

}  // namespace

void ring_all_reduce(Transport& transport, ArrayView data, ReduceOp op, const Deadline& deadline) {
  if (transport.size() == 1) return;
  Ring(transport, data, 1, op, deadline).all_reduce();
}

void ring_reduce_scatter(Transport& transport, ConstArrayView all, ArrayView mine, ReduceOp op,
                         const Deadline& deadline) {
  // The partial sums need a separate buffer.
  const auto sums = std::make_unique_for_overwrite<std::byte[]>(all.bytes());
  copy_bytes(sums.get(), all.data, all.bytes());
  Ring ring(transport, {sums.get(), all.count, all.type}, 0, op, deadline);
  ring.scatter_reduce();
  copy_bytes(mine.data, ring.finished_chunk().data, mine.bytes());
}

void ring_all_gather(Transport& transport, ConstArrayView mine, ArrayView all,
                     const Deadline& deadline) {
  Ring ring(transport, all, 0, ReduceOp::sum, deadline);
  copy_bytes(ring.finished_chunk().data, mine.data, mine.bytes());
  ring.all_gather();
}

}  // namespace lockstep::internal::comm
