#include "comm/collectives/halving_doubling.h"

#include "comm/reduce.h"

#include <bit>
#include <vector>

namespace lockstep::comm {

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
      auto send = start_send(rank() ^ distance, given_.back());
      add_from(rank() ^ distance, mine_);
      transport_.wait(*send, deadline_);
    }
  }

  void double_up() {
    for (int distance = power_ / 2; distance > 0; distance /= 2) {
      const ArrayView other = given_.back();
      given_.pop_back();
      auto send = start_send(rank() ^ distance, mine_);
      transport_.recv(rank() ^ distance, kCollectiveTag, other, deadline_);
      transport_.wait(*send, deadline_);
      // The two halves lie side by side.
      mine_ = {std::min(mine_.data, other.data), mine_.count + other.count, mine_.type};
    }
  }

  std::shared_ptr<Request> start_send(int to, ArrayView part) {
    return transport_.start_send(to, kCollectiveTag, Transport::bytes_of(part));
  }

  void add_from(int from, ArrayView part) {
    incoming_.resize(part.bytes());
    transport_.recv(from, kCollectiveTag, {incoming_.data(), part.count, part.type}, deadline_);
    reduce_into(part, incoming_.data(), op_);
  }

  Transport& transport_;
  const ArrayView data_;
  const ReduceOp op_;
  const Deadline& deadline_;
  const int power_;               ///< the largest power of two that is not above W
  ArrayView mine_;                ///< the range this rank adds up
  std::vector<ArrayView> given_;  ///< the halves it gave away, to be got back in reverse
  std::vector<std::byte> incoming_;
};

}  // namespace

void halving_doubling_all_reduce(Transport& transport, ArrayView data, ReduceOp op,
                                 const Deadline& deadline) {
  HalvingDoubling(transport, data, op, deadline).run();
}

}  // namespace lockstep::comm
