#include "comm/reduce.h"

#include "base/check.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace lockstep::comm {

namespace {

/// Calls f with a value of the C++ type that `type` stands for.
template <typename F>
void with_type(DataType type, F f) {
  switch (type) {
    case DataType::float32:
      return f(float{});
    case DataType::float64:
      return f(double{});
    case DataType::int32:
      return f(std::int32_t{});
    case DataType::int64:
      return f(std::int64_t{});
    case DataType::uint8:
      return f(std::uint8_t{});
  }
  LOCKSTEP_CHECK(false, "unknown element type {}", static_cast<int>(type));
}

// Integers wrap around, as they do in MPI; adding as unsigned keeps that defined.
template <typename T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

/// out[i] = a[i] op b[i]; out may be a or b.
template <typename T>
void combine(T* out, const T* a, const T* b, std::size_t count, ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      for (std::size_t i = 0; i < count; ++i) out[i] = add(a[i], b[i]);
      return;
    case ReduceOp::min:
      for (std::size_t i = 0; i < count; ++i) out[i] = std::min(a[i], b[i]);
      return;
    case ReduceOp::max:
      for (std::size_t i = 0; i < count; ++i) out[i] = std::max(a[i], b[i]);
      return;
  }
}

/// Elements reduced at a time: small enough for the first-level cache to hold a block per tree
/// level.
constexpr std::size_t kBlockBytes = 4096;

/// One block of every array, reduced along the tree.
template <typename T>
class TreeBlock {
 public:
  static constexpr std::size_t kElements = kBlockBytes / sizeof(T);

  TreeBlock(const std::vector<void*>& arrays, ReduceOp op)
      : arrays_(arrays), op_(op), scratch_(scratch_levels(arrays.size())) {}

  void reduce(std::size_t begin, std::size_t count) {
    begin_ = begin;
    count_ = count;
    T* result = scratch_[0].data();
    subtree(0, std::bit_ceil(arrays_.size()), result, 1);
    if (op_ == ReduceOp::average) scale(result);
    for (void* array : arrays_) std::memcpy(at(array), result, count_ * sizeof(T));
  }

 private:
  static std::size_t scratch_levels(std::size_t arrays) { return std::bit_width(arrays) + 2; }

  T* at(void* array) const { return static_cast<T*>(array) + begin_; }

  /// Reduces arrays [first, first + width) into `out`. REQUIRES: width is a power of two.
  void subtree(std::size_t first, std::size_t width, T* out, std::size_t level) {
    const std::size_t half = width / 2;
    if (width == 1) {
      std::memcpy(out, at(arrays_[first]), count_ * sizeof(T));
    } else if (first + half >= arrays_.size()) {
      subtree(first, half, out, level);
    } else if (width == 2) {
      combine(out, at(arrays_[first]), at(arrays_[first + 1]), count_, op_);
    } else {
      T* right = scratch_[level].data();
      subtree(first, half, out, level + 1);
      subtree(first + half, half, right, level + 1);
      combine(out, out, right, count_, op_);
    }
  }

  void scale(T* values) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T factor = T(1) / static_cast<T>(arrays_.size());
      for (std::size_t i = 0; i < count_; ++i) values[i] *= factor;
    }
  }

  const std::vector<void*>& arrays_;
  ReduceOp op_;
  std::vector<std::array<T, kElements>> scratch_;
  std::size_t begin_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

void reduce_into(ArrayView into, const void* from, ReduceOp op) {
  with_type(into.type, [&](auto zero) {
    using T = decltype(zero);
    T* values = static_cast<T*>(into.data);
    combine(values, values, static_cast<const T*>(from), into.count, op);
  });
}

void finish_average(ArrayView data, ReduceOp op, int ranks) {
  if (op != ReduceOp::average) return;
  with_type(data.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      const T factor = T(1) / static_cast<T>(ranks);
      T* values = static_cast<T*>(data.data);
      for (std::size_t i = 0; i < data.count; ++i) values[i] *= factor;
    }
  });
}

void reduce_tree(const std::vector<void*>& arrays, std::size_t count, DataType type, ReduceOp op) {
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    TreeBlock<T> block(arrays, op);
    for (std::size_t begin = 0; begin < count; begin += block.kElements)
      block.reduce(begin, std::min(block.kElements, count - begin));
  });
}

}  // namespace lockstep::comm
