// The vector instructions that this processor has. Loops that are compiled once for each vector
// unit all ask here which version to run.
#pragma once

#include <string_view>
#include <vector>

namespace lockstep {

/// Each has what those before it have.
enum class VectorUnit {
  plain,  ///< what every x86-64 processor has
  avx2,   ///< AVX2 and FMA
  avx512  ///< AVX-512 F, BW, DQ and VL
};

/// "plain", "avx2" or "avx512".
std::string_view name_of(VectorUnit unit);

/// All that this processor has, the best last. LOCKSTEP_VECTOR_UNIT names one that is not to be
/// gone beyond, to see what an older processor does; throws UsageError if it names none.
const std::vector<VectorUnit>& vector_units();

/// The best of them. Asked once a process.
inline VectorUnit vector_unit() {
  return vector_units().back();
}

/// Of three versions of something, the unit's.
template <typename Version>
Version version_for(VectorUnit unit, Version plain, Version avx2, Version avx512) {
  if (unit == VectorUnit::avx512) return avx512;
  return unit == VectorUnit::avx2 ? avx2 : plain;
}

}  // namespace lockstep
