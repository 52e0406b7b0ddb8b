#include "comm/reduce.h"

#include "comm/kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>

namespace lockstep::internal::comm {

namespace {

/// Bytes of each array reduced at a time if the tree takes several passes: small enough for the
/// first-level cache to hold one block per tree level.
constexpr std::size_t kBlockBytes = 4096;

double average_factor(std::size_t arrays) {
  return 1.0 / static_cast<double>(arrays);
}

/// One block of every array, reduced along the tree in several passes. REQUIRES: 2 arrays or more.
class TreeBlock {
 public:
  TreeBlock(std::span<void* const> arrays, std::span<void* const> outputs, DataType type,
            ReduceOp op)
      : arrays_(arrays),
        outputs_(outputs),
        type_(type),
        op_(op),
        scratch_(std::make_unique_for_overwrite<Block[]>(2 * std::bit_width(arrays.size()))) {}

  std::size_t elements() const { return kBlockBytes / size_of(type_); }

  void reduce(std::size_t begin, std::size_t count) {
    begin_ = begin;
    count_ = count;
    const std::size_t half = std::bit_ceil(arrays_.size()) / 2;
    const std::array<const void*, 2> halves{subtree(0, half, 0), subtree(half, half, 1)};
    void* const first = at(outputs_[0]);
    kernels().pass(
        {halves.data(), 2, &first, 1, count_, type_, op_, average_factor(arrays_.size())});
    for (void* output : outputs_.subspan(1)) std::memcpy(at(output), first, bytes());
  }

 private:
  using Block = std::array<std::byte, kBlockBytes>;

  void* at(void* array) const { return static_cast<std::byte*>(array) + begin_ * size_of(type_); }
  std::size_t bytes() const { return count_ * size_of(type_); }

  /// Combines the arrays [first, first + width): the result is an array itself, or scratch[slot].
  /// Slots from the next even one on are free. REQUIRES: width is a power of two, and arrays[first]
  /// exists.
  const void* subtree(std::size_t first, std::size_t width, std::size_t slot) {
    const std::size_t half = width / 2;
    if (width == 1) return at(arrays_[first]);
    if (first + half >= arrays_.size()) return subtree(first, half, slot);
    void* const out = scratch_[slot].data();
    // Within the tree an average is a sum.
    const ReduceOp op = op_ == ReduceOp::average ? ReduceOp::sum : op_;
    if (width == 4 && first + 4 <= arrays_.size()) {
      const std::array<const void*, 4> leaves{at(arrays_[first]), at(arrays_[first + 1]),
                                              at(arrays_[first + 2]), at(arrays_[first + 3])};
      kernels().pass({leaves.data(), 4, &out, 1, count_, type_, op});
    } else {
      const std::size_t free = slot / 2 * 2 + 2;
      const std::array<const void*, 2> halves{subtree(first, half, free),
                                              subtree(first + half, half, free + 1)};
      kernels().pass({halves.data(), 2, &out, 1, count_, type_, op});
    }
    return out;
  }

  const std::span<void* const> arrays_;
  const std::span<void* const> outputs_;
  const DataType type_;
  const ReduceOp op_;
  const std::unique_ptr<Block[]> scratch_;
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

void reduce_tree(std::span<void* const> arrays, std::span<void* const> outputs, std::size_t count,
                 DataType type, ReduceOp op) {
  if (count == 0) return;
  if (arrays.size() == 1) {
    if (outputs[0] != arrays[0]) std::memcpy(outputs[0], arrays[0], count * size_of(type));
    return;
  }
  if (arrays.size() == 2 || arrays.size() == 4)
    return kernels().pass({arrays.data(), arrays.size(), outputs.data(), outputs.size(), count,
                           type, op, average_factor(arrays.size())});
  TreeBlock block(arrays, outputs, type, op);
  for (std::size_t begin = 0; begin < count; begin += block.elements())
    block.reduce(begin, std::min(block.elements(), count - begin));
}

}  // namespace lockstep::internal::comm
