// The small vocabulary of the communicator: element types, reductions, algorithms, and views of the
// caller's arrays. A view owns nothing; the array behind it must outlive the call, or the Work,
// that it was passed to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep {

/// float16 and bfloat16 are stored as 16 bits and added in float32.
enum class DataType : std::uint8_t { float32, float64, float16, bfloat16, int32, int64, uint8 };

/// `average` divides the sum by the number of ranks, and is for floating-point types only.
enum class ReduceOp : std::uint8_t { sum, average, min, max, product };

/// How a collective is composed of messages; docs/algorithms.md has the cost of each.
enum class Algorithm : std::uint8_t {
  automatic,         ///< by what the transport can do and the length
  star,              ///< everything through rank 0, one rank after another
  tree,              ///< a binomial tree: fewest steps, for short arrays
  ring,              ///< W chunks travel around a ring; the least bytes per rank
  halving_doubling,  ///< as few bytes as a ring in fewer steps
  direct,            ///< each rank reduces its slice in the others' memory (thread, shm)
  hierarchical,  ///< `direct` within each host, one of the above between hosts (shm+gloo, shm+mpi)
  native,        ///< the transport's own library does it (mpi)
};

std::size_t size_of(DataType type);
std::string_view name_of(DataType type);
std::string_view name_of(ReduceOp op);
std::string_view name_of(Algorithm algorithm);
bool is_floating(DataType type);

/// The algorithm that name_of calls `name` ("auto", "halving-doubling"); throws UsageError for any
/// other.
Algorithm parse_algorithm(std::string_view name);

/// IEEE half precision and the upper half of a float32, as they lie in memory: C++20 has no types
/// for them.
struct Float16 {
  std::uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value);
  explicit operator float() const;
  bool operator==(const Float16&) const = default;
};
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const;
  bool operator==(const BFloat16&) const = default;
};

/// The DataType of a C++ type.
template <typename T>
struct DataTypeOf;
template <>
struct DataTypeOf<float> {
  static constexpr DataType value = DataType::float32;
};
template <>
struct DataTypeOf<double> {
  static constexpr DataType value = DataType::float64;
};
template <>
struct DataTypeOf<Float16> {
  static constexpr DataType value = DataType::float16;
};
template <>
struct DataTypeOf<BFloat16> {
  static constexpr DataType value = DataType::bfloat16;
};
template <>
struct DataTypeOf<std::int32_t> {
  static constexpr DataType value = DataType::int32;
};
template <>
struct DataTypeOf<std::int64_t> {
  static constexpr DataType value = DataType::int64;
};
template <>
struct DataTypeOf<std::uint8_t> {
  static constexpr DataType value = DataType::uint8;
};

/// A typed view of `count` elements that the caller owns and lets the callee write.
struct ArrayView {
  void* data = nullptr;
  std::size_t count = 0;
  DataType type = DataType::float32;

  ArrayView() = default;
  ArrayView(void* data, std::size_t count, DataType type) : data(data), count(count), type(type) {}
  template <typename T>
  ArrayView(std::span<T> values)  // NOLINT: a span is an array view
      : data(values.data()), count(values.size()), type(DataTypeOf<T>::value) {}
  template <typename T>
  ArrayView(std::vector<T>& values) : ArrayView(std::span<T>(values)) {}  // NOLINT

  std::size_t bytes() const { return count * size_of(type); }
  /// Elements [begin, begin + length). REQUIRES: begin + length <= count.
  ArrayView slice(std::size_t begin, std::size_t length) const;
};

/// The same for elements that are only read.
struct ConstArrayView {
  const void* data = nullptr;
  std::size_t count = 0;
  DataType type = DataType::float32;

  ConstArrayView() = default;
  ConstArrayView(const void* data, std::size_t count, DataType type)
      : data(data), count(count), type(type) {}
  ConstArrayView(const ArrayView& view)  // NOLINT: whatever may be written may be read
      : data(view.data), count(view.count), type(view.type) {}
  template <typename T>
  ConstArrayView(std::span<T> values)  // NOLINT
      : data(values.data()),
        count(values.size()),
        type(DataTypeOf<std::remove_const_t<T>>::value) {}
  template <typename T>
  ConstArrayView(const std::vector<T>& values)  // NOLINT
      : ConstArrayView(std::span<const T>(values)) {}

  std::size_t bytes() const { return count * size_of(type); }
  /// Elements [begin, begin + length). REQUIRES: begin + length <= count.
  ConstArrayView slice(std::size_t begin, std::size_t length) const;
};

/// What asynchronous calls read: everything that a ConstArrayView can be made from, except a
/// temporary vector, which would be gone before the operation has read it.
struct AsyncConstArrayView : ConstArrayView {
  using ConstArrayView::ConstArrayView;
  AsyncConstArrayView(const ConstArrayView& view) : ConstArrayView(view) {}  // NOLINT
  template <typename T>
  AsyncConstArrayView(const std::vector<T>&&) = delete;
};

}  // namespace lockstep
