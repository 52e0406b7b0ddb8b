// The vocabulary of the communicator: element types, reductions, algorithms, and views of the
// caller's arrays. A view owns nothing: the array behind it must outlive the call, or the Work,
// that it is passed to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep {

/// The type of an array's elements. float16 and bfloat16 are stored in 16 bits and added in
/// float32.
enum class DataType : std::uint8_t { float32, float64, float16, bfloat16, int32, int64, uint8 };

/// How elements are combined. `average` is the sum divided by the number of ranks; it is for
/// floating-point types only.
enum class ReduceOp : std::uint8_t { sum, average, min, max, product };

/// How a collective is composed of messages. docs/algorithms.md has the cost of each.
enum class Algorithm : std::uint8_t {
  automatic,         ///< chosen by transport, number of ranks and length
  star,              ///< all data pass through rank 0, one rank after another
  tree,              ///< a binomial tree: fewest steps, for short arrays
  ring,              ///< W chunks travel around a ring: fewest bytes per rank, for long arrays
  halving_doubling,  ///< as few bytes as a ring in fewer steps
  direct,            ///< each rank reduces its slice in the memory of all ranks (thread, shm)
  hierarchical,      ///< `direct` within each host, another one between hosts (shm+gloo, shm+mpi)
  native,            ///< the collective of the transport's own library (mpi)
};

/// Bytes of one element.
std::size_t size_of(DataType type);
/// "float32", "bfloat16" …
std::string_view name_of(DataType type);
/// "sum", "average" …
std::string_view name_of(ReduceOp op);
/// "auto", "halving-doubling" …
std::string_view name_of(Algorithm algorithm);
/// True for float32, float64, float16 and bfloat16.
bool is_floating(DataType type);

/// The reverse of name_of(): "auto" gives Algorithm::automatic. Throws UsageError for an unknown
/// name.
Algorithm parse_algorithm(std::string_view name);

/// IEEE 754 half precision. C++20 has no type for it.
struct Float16 {
  std::uint16_t bits = 0;  ///< the value as it is stored
  Float16() = default;
  explicit Float16(float value);                    ///< rounds to nearest, ties to even
  explicit operator float() const;                  ///< exact
  bool operator==(const Float16&) const = default;  ///< compares the bits
};
/// The upper 16 bits of a float32: its range with 8 bits of precision.
struct BFloat16 {
  std::uint16_t bits = 0;  ///< the value as it is stored
  BFloat16() = default;
  explicit BFloat16(float value);                    ///< rounds to nearest, ties to even
  explicit operator float() const;                   ///< exact
  bool operator==(const BFloat16&) const = default;  ///< compares the bits
};

/// The DataType of a C++ type: DataTypeOf<float>::value.
template <typename T>
struct DataTypeOf;
/// @cond
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
/// @endcond

/// A typed view of an array that the callee may write. The caller owns the array.
struct ArrayView {
  void* data = nullptr;               ///< the first element; null only if count is 0
  std::size_t count = 0;              ///< elements
  DataType type = DataType::float32;  ///< of each element

  ArrayView() = default;
  /// `count` elements at `data`.
  ArrayView(void* data, std::size_t count, DataType type) : data(data), count(count), type(type) {}
  /// The elements of a span.
  template <typename T>
  ArrayView(std::span<T> values)  // NOLINT: a span is an array view
      : data(values.data()), count(values.size()), type(DataTypeOf<T>::value) {}
  /// The elements of a vector, which must not be resized while the view is in use.
  template <typename T>
  ArrayView(std::vector<T>& values) : ArrayView(std::span<T>(values)) {}  // NOLINT

  /// Bytes of all elements.
  std::size_t bytes() const { return count * size_of(type); }
  /// Elements [begin, begin + length). REQUIRES: begin + length <= count.
  ArrayView slice(std::size_t begin, std::size_t length) const;
};

/// A typed view of an array that the callee only reads.
struct ConstArrayView {
  const void* data = nullptr;         ///< the first element; null only if count is 0
  std::size_t count = 0;              ///< elements
  DataType type = DataType::float32;  ///< of each element

  ConstArrayView() = default;
  /// `count` elements at `data`.
  ConstArrayView(const void* data, std::size_t count, DataType type)
      : data(data), count(count), type(type) {}
  /// The same elements, read-only.
  ConstArrayView(const ArrayView& view)  // NOLINT: an array that may be written may be read
      : data(view.data), count(view.count), type(view.type) {}
  /// The elements of a span.
  template <typename T>
  ConstArrayView(std::span<T> values)  // NOLINT
      : data(values.data()),
        count(values.size()),
        type(DataTypeOf<std::remove_const_t<T>>::value) {}
  /// The elements of a vector, which must not be resized while the view is in use.
  template <typename T>
  ConstArrayView(const std::vector<T>& values)  // NOLINT
      : ConstArrayView(std::span<const T>(values)) {}

  /// Bytes of all elements.
  std::size_t bytes() const { return count * size_of(type); }
  /// Elements [begin, begin + length). REQUIRES: begin + length <= count.
  ConstArrayView slice(std::size_t begin, std::size_t length) const;
};

/// An array that an asynchronous call reads. It can be made from everything that a ConstArrayView
/// can be made from, except a temporary vector: that would be destroyed before the operation has
/// read it, so the call does not compile.
struct AsyncConstArrayView : ConstArrayView {
  /// @cond
  using ConstArrayView::ConstArrayView;
  /// @endcond
  /// The same elements.
  AsyncConstArrayView(const ConstArrayView& view) : ConstArrayView(view) {}  // NOLINT
  template <typename T>
  AsyncConstArrayView(const std::vector<T>&&) = delete;
};

}  // namespace lockstep
