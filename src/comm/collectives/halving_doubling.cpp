#include "comm/collectives/halving_doubling.h"

#include "base/bytes.h"
#include "comm/reduce.h"

#include <bit>
#include <memory>
#include <vector>

namespace lockstep::internal::comm {

namespace {

class HalvingDoubling {
 public:
  HalvingDoubling(Transport& transport, ArrayView data, ReduceOp op, const Deadline& deadline)
      : transport_(transport),
        data_(data),
        op_(op),
        deadline_(deadline),
        power_(static_cast<int>(std::bit_floor(static_cast<unsigned>(transport.size())))) {}

  void run() {
    if (rank() >= power_) return through_partner();
    const bool has_partner = rank() + power_ < transport_.size();
    if (has_partner) add_from(rank() + power_, data_);
    halve();
    finish_average(mine_, op_, transport_.size());
    double_up();
    if (has_partner) transport_.send(rank() + power_, kCollectiveTag, data_, deadline_);
  }

  /// Leaves the sums, or their average, of this rank's part. Parts are numbered by rank if the
  /// array's W equal parts are stored in bit-reversed order. REQUIRES: W is a power of two that
  /// divides the array.
  ArrayView halve_only() {
    halve();
    finish_average(mine_, op_, transport_.size());
    return mine_;
  }

 private:
  int rank() const { return transport_.rank(); }

  /// For the ranks beyond the power of two.
  void through_partner() {
    transport_.send(rank() - power_, kCollectiveTag, data_, deadline_);
    transport_.recv(rank() - power_, kCollectiveTag, data_, deadline_);
  }

  void halve() {
    mine_ = data_;
    for (int distance = 1; distance < power_; distance *= 2) {
      const std::size_t half = mine_.count / 2;
      const ArrayView lower = mine_.slice(0, half);
      const ArrayView upper = mine_.slice(half, mine_.count - half);
      const bool keep_lower = (rank() & distance) == 0;
      given_.push_back(keep_lower ? upper : lower);
      mine_ = keep_lower ? lower : upper;
      exchange(rank() ^ distance, given_.back(), incoming(mine_));
      transport_.combine(mine_, incoming_.get(), op_);
    }
  }

  void double_up() {
    for (int distance = power_ / 2; distance > 0; distance /= 2) {
      const ArrayView other = given_.back();
      given_.pop_back();
      exchange(rank() ^ distance, mine_, other);
      // The two halves are adjacent.
      mine_ = {std::min(mine_.data, other.data), mine_.count + other.count, mine_.type};
    }
  }

  /// Starts the receive first: a sender over a network may wait for its peer's ready notification,
  /// which must not queue behind this rank's own data, or only one of the two sends at a time.
  void exchange(int peer, ArrayView own, ArrayView theirs) {
    auto arrival = transport_.start_recv(peer, kCollectiveTag, Transport::bytes_of(theirs));
    auto departure = transport_.start_send(peer, kCollectiveTag, Transport::bytes_of(own));
    transport_.wait(*arrival, deadline_);
    transport_.wait(*departure, deadline_);
  }

  void add_from(int from, ArrayView part) {
    transport_.recv(from, kCollectiveTag, incoming(part), deadline_);
    transport_.combine(part, incoming_.get(), op_);
  }

  /// Buffer for data to be added to a part.
  ArrayView incoming(ArrayView part) {
    if (!incoming_) incoming_ = std::make_unique_for_overwrite<std::byte[]>(part.bytes());
    return {incoming_.get(), part.count, part.type};
  }

  Transport& transport_;
  const ArrayView data_;
  const ReduceOp op_;
  const Deadline& deadline_;
  const int power_;               ///< the largest power of two that is at most W
  ArrayView mine_;                ///< the range this rank reduces
  std::vector<ArrayView> given_;  ///< the halves it sent away, to be received back in reverse order
  /// Large enough for the first part, which is the longest.
  std::unique_ptr<std::byte[]> incoming_;
};

/// The bits of a rank's number in reverse, in a world of 2^bits ranks.
std::size_t reversed(std::size_t number, int bits) {
  std::size_t result = 0;
  for (int bit = 0; bit < bits; ++bit) result = result << 1 | (number >> bit & 1);
  return result;
}

}  // namespace

void halving_doubling_all_reduce(Transport& transport, ArrayView data, ReduceOp op,
                                 const Deadline& deadline) {
  HalvingDoubling(transport, data, op, deadline).run();
}

void halving_reduce_scatter(Transport& transport, ConstArrayView all, ArrayView mine, ReduceOp op,
                            const Deadline& deadline) {
  const auto ranks = static_cast<unsigned>(transport.size());
  const bool power_of_two = std::has_single_bit(ranks);
  const auto room = std::make_unique_for_overwrite<std::byte[]>(all.bytes());
  const ArrayView sums(room.get(), all.count, all.type);
  for (std::size_t part = 0; part < ranks; ++part) {
    const std::size_t place = power_of_two ? reversed(part, std::countr_zero(ranks)) : part;
    copy_bytes(sums.slice(place * mine.count, mine.count).data,
               all.slice(part * mine.count, mine.count).data, mine.bytes());
  }
  HalvingDoubling steps(transport, sums, op, deadline);
  const auto own = static_cast<std::size_t>(transport.rank());
  if (!power_of_two) steps.run();
  const ArrayView result =
      power_of_two ? steps.halve_only() : sums.slice(own * mine.count, mine.count);
  copy_bytes(mine.data, result.data, mine.bytes());
}

}  // namespace lockstep::internal::comm
