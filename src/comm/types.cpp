#include <lockstep/types.h>

#include "base/check.h"
#include "base/text.h"

#include <array>
#include <utility>

namespace lockstep {

using namespace internal;

namespace {

struct TypeFacts {
  DataType type;
  std::string_view name;
  std::size_t size;
  bool floating;
};

constexpr std::array kTypes{
    TypeFacts{DataType::float32, "float32", 4, true},
    TypeFacts{DataType::float64, "float64", 8, true},
    TypeFacts{DataType::float16, "float16", 2, true},
    TypeFacts{DataType::bfloat16, "bfloat16", 2, true},
    TypeFacts{DataType::int32, "int32", 4, false},
    TypeFacts{DataType::int64, "int64", 8, false},
    TypeFacts{DataType::uint8, "uint8", 1, false},
};

constexpr std::array kReductions{
    std::pair{ReduceOp::sum, std::string_view("sum")},
    std::pair{ReduceOp::average, std::string_view("average")},
    std::pair{ReduceOp::min, std::string_view("min")},
    std::pair{ReduceOp::max, std::string_view("max")},
    std::pair{ReduceOp::product, std::string_view("product")},
};

constexpr std::array kAlgorithms{
    std::pair{Algorithm::automatic, std::string_view("auto")},
    std::pair{Algorithm::star, std::string_view("star")},
    std::pair{Algorithm::tree, std::string_view("tree")},
    std::pair{Algorithm::ring, std::string_view("ring")},
    std::pair{Algorithm::halving_doubling, std::string_view("halving-doubling")},
    std::pair{Algorithm::direct, std::string_view("direct")},
    std::pair{Algorithm::hierarchical, std::string_view("hierarchical")},
    std::pair{Algorithm::native, std::string_view("native")},
};

const TypeFacts& facts_of(DataType type) {
  // A type read from a peer's memory may have any value.
  const auto index = static_cast<std::size_t>(type);
  LOCKSTEP_CHECK(index < kTypes.size() && kTypes[index].type == type, "unknown element type {}",
                 index);
  return kTypes[index];
}

template <typename Table, typename Key>
std::string_view look_up(const Table& table, Key key) {
  for (const auto& [known, name] : table)
    if (known == key) return name;
  return "unknown";
}

}  // namespace

std::size_t size_of(DataType type) {
  return facts_of(type).size;
}

std::string_view name_of(DataType type) {
  return facts_of(type).name;
}

bool is_floating(DataType type) {
  return facts_of(type).floating;
}

std::string_view name_of(ReduceOp op) {
  return look_up(kReductions, op);
}

std::string_view name_of(Algorithm algorithm) {
  return look_up(kAlgorithms, algorithm);
}

Algorithm parse_algorithm(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [algorithm, known] : kAlgorithms) {
    if (name == known) return algorithm;
    names.emplace_back(known);
  }
  throw UsageError(fmt::format("unknown algorithm '{}': choose from {}", name, enumerate(names)));
}

ArrayView ArrayView::slice(std::size_t begin, std::size_t length) const {
  return {static_cast<std::byte*>(data) + begin * size_of(type), length, type};
}

ConstArrayView ConstArrayView::slice(std::size_t begin, std::size_t length) const {
  return {static_cast<const std::byte*>(data) + begin * size_of(type), length, type};
}

}  // namespace lockstep
