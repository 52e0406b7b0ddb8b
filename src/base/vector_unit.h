// The vector instructions of this processor. Loops that are compiled once per vector unit use this
// to choose the version to run.
#pragma once

#include <string_view>
#include <vector>

namespace lockstep::internal {

/// Each unit includes those before it.
enum class VectorUnit {
  plain,  ///< available on every x86-64 processor
  avx2,   ///< AVX2 and FMA
  avx512  ///< AVX-512 F, BW, DQ and VL
};

/// "plain", "avx2" or "avx512".
std::string_view name_of(VectorUnit unit);

/// All units of this processor, the best last. LOCKSTEP_VECTOR_UNIT limits them to one unit and
/// those before it, to reproduce an older processor; throws UsageError if its value is invalid.
const std::vector<VectorUnit>& vector_units();

/// The best unit. Determined once per process.
inline VectorUnit vector_unit() {
  return vector_units().back();
}

/// Selects the unit's version out of three.
template <typename Version>
Version version_for(VectorUnit unit, Version plain, Version avx2, Version avx512) {
  if (unit == VectorUnit::avx512) return avx512;
  return unit == VectorUnit::avx2 ? avx2 : plain;
}

}  // namespace lockstep::internal
