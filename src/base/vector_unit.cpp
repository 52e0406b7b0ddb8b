#include "base/vector_unit.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace lockstep::internal {

namespace {

constexpr const char* kVariable = "LOCKSTEP_VECTOR_UNIT";
constexpr std::array kUnits{VectorUnit::plain, VectorUnit::avx2, VectorUnit::avx512};

bool has(VectorUnit unit) {
  if (unit == VectorUnit::plain) return true;
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (unit == VectorUnit::avx2) return avx2;
  return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

VectorUnit limit() {
  const char* name = std::getenv(kVariable);
  if (!name) return VectorUnit::avx512;
  const auto* unit = std::ranges::find(kUnits, std::string_view(name),
                                       [](VectorUnit known) { return name_of(known); });
  if (unit == kUnits.end())
    throw UsageError(fmt::format("{} is '{}': it must be plain, avx2 or avx512", kVariable, name));
  return *unit;
}

}  // namespace

std::string_view name_of(VectorUnit unit) {
  return version_for<std::string_view>(unit, "plain", "avx2", "avx512");
}

const std::vector<VectorUnit>& vector_units() {
  static const std::vector<VectorUnit> units = [] {
    const VectorUnit highest = limit();
    std::vector<VectorUnit> found;
    for (VectorUnit unit : kUnits)
      if (unit <= highest && has(unit)) found.push_back(unit);
    return found;
  }();
  return units;
}

}  // namespace lockstep::internal
