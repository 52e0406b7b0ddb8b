#include <lockstep/types.h>

#include "base/check.h"

namespace lockstep {

std::size_t size_of(DataType type) {
  switch (type) {
    case DataType::float32:
    case DataType::int32:
      return 4;
    case DataType::float64:
    case DataType::int64:
      return 8;
    case DataType::uint8:
      return 1;
  }
  LOCKSTEP_CHECK(false, "unknown element type {}", static_cast<int>(type));
  return 0;
}

std::string_view name_of(DataType type) {
  switch (type) {
    case DataType::float32:
      return "float32";
    case DataType::float64:
      return "float64";
    case DataType::int32:
      return "int32";
    case DataType::int64:
      return "int64";
    case DataType::uint8:
      return "uint8";
  }
  return "unknown type";
}

std::string_view name_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return "sum";
    case ReduceOp::average:
      return "average";
    case ReduceOp::min:
      return "min";
    case ReduceOp::max:
      return "max";
  }
  return "unknown reduction";
}

std::string_view name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::automatic:
      return "auto";
    case Algorithm::star:
      return "star";
    case Algorithm::ring:
      return "ring";
    case Algorithm::direct:
      return "direct";
  }
  return "unknown algorithm";
}

Algorithm parse_algorithm(std::string_view name) {
  for (Algorithm algorithm :
       {Algorithm::automatic, Algorithm::star, Algorithm::ring, Algorithm::direct})
    if (name == name_of(algorithm)) return algorithm;
  throw UsageError(
      fmt::format("there is no algorithm '{}': take auto, star, ring or direct", name));
}

ArrayView ArrayView::slice(std::size_t begin, std::size_t length) const {
  return {static_cast<std::byte*>(data) + begin * size_of(type), length, type};
}

ConstArrayView ConstArrayView::slice(std::size_t begin, std::size_t length) const {
  return {static_cast<const std::byte*>(data) + begin * size_of(type), length, type};
}

}  // namespace lockstep
