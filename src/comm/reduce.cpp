#include "comm/reduce.h"

#include "comm/kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace lockstep::comm {

namespace {

/// Elements reduced at a time: small enough for the first-level cache to hold a block per tree
/// level.
constexpr std::size_t kBlockBytes = 4096;

/// One block of every array, reduced along the tree.
class TreeBlock {
 public:
  TreeBlock(const std::vector<void*>& arrays, const std::vector<void*>& outputs, DataType type,
            ReduceOp op)
      : arrays_(arrays),
        outputs_(outputs),
        type_(type),
        op_(op),
        scratch_(std::bit_width(arrays.size()) + 2) {}

  std::size_t elements() const { return kBlockBytes / size_of(type_); }

  void reduce(std::size_t begin, std::size_t count) {
    begin_ = begin;
    count_ = count;
    void* result = scratch_[0].data();
    subtree(0, std::bit_ceil(arrays_.size()), result, 1);
    finish_average({result, count_, type_}, op_, static_cast<int>(arrays_.size()));
    for (void* output : outputs_) std::memcpy(at(output), result, count_ * size_of(type_));
  }

 private:
  void* at(void* array) const { return static_cast<std::byte*>(array) + begin_ * size_of(type_); }

  /// Reduces arrays [first, first + width) into `out`. REQUIRES: width is a power of two.
  void subtree(std::size_t first, std::size_t width, void* out, std::size_t level) {
    const std::size_t half = width / 2;
    if (width == 1) {
      std::memcpy(out, at(arrays_[first]), count_ * size_of(type_));
    } else if (first + half >= arrays_.size()) {
      subtree(first, half, out, level);
    } else if (width == 2) {
      kernels().combine(out, at(arrays_[first]), at(arrays_[first + 1]), count_, type_, op_);
    } else {
      void* right = scratch_[level].data();
      subtree(first, half, out, level + 1);
      subtree(first + half, half, right, level + 1);
      kernels().combine(out, out, right, count_, type_, op_);
    }
  }

  const std::vector<void*>& arrays_;
  const std::vector<void*>& outputs_;
  const DataType type_;
  const ReduceOp op_;
  std::vector<std::array<std::byte, kBlockBytes>> scratch_;
  std::size_t begin_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

void reduce_into(ArrayView into, const void* from, ReduceOp op) {
  kernels().combine(into.data, into.data, from, into.count, into.type, op);
}

void finish_average(ArrayView data, ReduceOp op, int ranks) {
  if (op == ReduceOp::average) kernels().scale(data.data, data.count, data.type, 1.0 / ranks);
}

void reduce_tree(const std::vector<void*>& arrays, const std::vector<void*>& outputs,
                 std::size_t count, DataType type, ReduceOp op) {
  TreeBlock block(arrays, outputs, type, op);
  for (std::size_t begin = 0; begin < count; begin += block.elements())
    block.reduce(begin, std::min(block.elements(), count - begin));
}

}  // namespace lockstep::comm
