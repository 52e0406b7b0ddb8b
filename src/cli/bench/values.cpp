#include "cli/bench/values.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lockstep::internal::cli {

namespace {

constexpr std::array kTypes{DataType::float32,  DataType::float64, DataType::float16,
                            DataType::bfloat16, DataType::int32,   DataType::int64,
                            DataType::uint8};

template <typename T>
T element(std::int64_t number) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(number);
  else
    return T(static_cast<float>(number));
}

/// Calls body(T{}) with the C++ type of the elements.
template <typename Body>
auto with_type(DataType type, Body body) {
  switch (type) {
    case DataType::float64:
      return body(double{});
    case DataType::float16:
      return body(Float16{});
    case DataType::bfloat16:
      return body(BFloat16{});
    case DataType::int32:
      return body(std::int32_t{});
    case DataType::int64:
      return body(std::int64_t{});
    case DataType::uint8:
      return body(std::uint8_t{});
    case DataType::float32:
      break;
  }
  return body(float{});
}

/// The largest number up to which a floating-point type holds every whole number; integers wrap
/// around in the same way everywhere.
std::int64_t exact_up_to(DataType type) {
  if (type == DataType::bfloat16) return 256;
  if (type == DataType::float16) return 2048;
  return 1 << 24;
}

}  // namespace

std::vector<std::string> data_type_names() {
  std::vector<std::string> names;
  for (DataType type : kTypes) names.emplace_back(name_of(type));
  return names;
}

DataType parse_data_type(const std::string& name) {
  for (DataType type : kTypes)
    if (name_of(type) == name) return type;
  throw UsageError(
      fmt::format("unknown element type '{}': choose from {}", name, enumerate(data_type_names())));
}

std::int64_t bench_value(DataType type, int rank, int ranks, std::size_t i) {
  const std::int64_t limit = exact_up_to(type);
  if (rank >= limit) return 0;
  const auto modulus = static_cast<std::size_t>(std::clamp<std::int64_t>(limit / ranks + 1, 2, 8));
  return static_cast<std::int64_t>((i + static_cast<std::size_t>(rank)) % modulus);
}

void fill(ArrayView values, const std::function<std::int64_t(std::size_t i)>& number) {
  with_type(values.type, [&](auto kind) {
    using T = decltype(kind);
    T* elements = static_cast<T*>(values.data);
    for (std::size_t i = 0; i < values.count; ++i) elements[i] = element<T>(number(i));
  });
}

std::int64_t count_wrong(ConstArrayView values,
                         const std::function<std::optional<std::int64_t>(std::size_t i)>& number) {
  return with_type(values.type, [&](auto kind) {
    using T = decltype(kind);
    const T* elements = static_cast<const T*>(values.data);
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < values.count; ++i) {
      const auto expected = number(i);
      wrong += expected && !(elements[i] == element<T>(*expected));
    }
    return wrong;
  });
}

}  // namespace lockstep::internal::cli
