#include "models/stored_tensor.h"

#include "base/check.h"
#include "base/hash/sha256.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace lockstep::internal::models {

static_assert(std::endian::native == std::endian::little,
              "stored tensors are little-endian and copied as they are");

namespace {

struct StoredType {
  DataType type;
  std::string_view name;
};

constexpr std::array kTypes = {
    StoredType{DataType::float32, "F32"},   StoredType{DataType::float64, "F64"},
    StoredType{DataType::int32, "I32"},     StoredType{DataType::int64, "I64"},
    StoredType{DataType::uint8, "U8"},      StoredType{DataType::float16, "F16"},
    StoredType{DataType::bfloat16, "BF16"},
};

const StoredType& entry_of(DataType type) {
  auto found = std::ranges::find(kTypes, type, &StoredType::type);
  LOCKSTEP_CHECK(found != kTypes.end(), "data type {} cannot be stored", static_cast<int>(type));
  return *found;
}

}  // namespace

std::string_view stored_name(DataType type) {
  return entry_of(type).name;
}

std::optional<DataType> stored_type(std::string_view name) {
  auto found = std::ranges::find(kTypes, name, &StoredType::name);
  if (found == kTypes.end()) return std::nullopt;
  return found->type;
}

std::string stored_names() {
  std::vector<std::string> names;
  names.reserve(kTypes.size());
  for (const StoredType& type : kTypes) names.emplace_back(type.name);
  return enumerate(names);
}

std::optional<std::uint64_t> tensor_bytes(DataType type, const std::vector<std::int64_t>& shape) {
  std::uint64_t bytes = size_of(type);
  for (std::int64_t dimension : shape) {
    if (dimension < 0 || __builtin_mul_overflow(bytes, dimension, &bytes)) return std::nullopt;
  }
  return bytes;
}

std::string format_shape(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::vector<const StoredTensor*> sorted_by_name(const std::vector<StoredTensor>& tensors) {
  std::vector<const StoredTensor*> sorted;
  sorted.reserve(tensors.size());
  for (const StoredTensor& tensor : tensors) sorted.push_back(&tensor);
  std::ranges::sort(sorted, {}, &StoredTensor::name);
  return sorted;
}

std::string weights_sha256(const std::vector<StoredTensor>& tensors) {
  Sha256 sha;
  for (const StoredTensor* tensor : sorted_by_name(tensors))
    sha.update(tensor->data.data(), tensor->data.size());
  return sha.hex();
}

}  // namespace lockstep::internal::models
