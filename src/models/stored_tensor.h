// A tensor as stored in a file. Without libtorch, so that weights can be read, checked and hashed
// without it.
#pragma once

#include <lockstep/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::models {

/// Elements are in row-major order without gaps, little-endian. Owns its bytes.
struct StoredTensor {
  std::string name;  ///< PyTorch's name: "features.0.weight"
  DataType type = DataType::float32;
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  std::vector<std::byte> data;

  bool operator==(const StoredTensor&) const = default;
};

/// The name of a type in safetensors: "F32".
std::string_view stored_name(DataType type);

/// The reverse of stored_name; empty for types that Lockstep does not support.
std::optional<DataType> stored_type(std::string_view name);

/// The names of all types that can be stored, for messages: "F32, F64, I32, I64, U8, F16 and BF16".
std::string stored_names();

/// Bytes of a whole tensor; empty if a dimension is negative or the product does not fit 64 bits.
std::optional<std::uint64_t> tensor_bytes(DataType type, const std::vector<std::int64_t>& shape);

/// "[6, 1, 5, 5]".
std::string format_shape(const std::vector<std::int64_t>& shape);

/// The tensors ordered by name. The pointers are into `tensors`.
std::vector<const StoredTensor*> sorted_by_name(const std::vector<StoredTensor>& tensors);

/// SHA-256 over the tensors' data, ordered by name, as 64 hexadecimal digits. Does not cover names,
/// types and shapes: it tells whether two runs of one model ended with the same bits.
std::string weights_sha256(const std::vector<StoredTensor>& tensors);

}  // namespace lockstep::internal::models
