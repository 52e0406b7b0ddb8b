// Kernels: the inner loops of reductions, compiled once for each vector unit and chosen at run
// time.
#pragma once

#include <lockstep/types.h>

#include <cstddef>
#include <string_view>

namespace lockstep::internal {
enum class VectorUnit;  // defined in base/vector_unit.h, which has inline functions: see
                        // kernels.inl
}

namespace lockstep::internal::comm {

/// Arrays that are combined in one pass: every input is read once, every output is written once,
/// without intermediate arrays.
struct Pass {
  const void* const* inputs;
  std::size_t input_count;  ///< 2: a op b; 4: (a op b) op (c op d)
  /// Each receives the result; each is one of the inputs or disjoint from them.
  void* const* outputs;
  std::size_t output_count;
  std::size_t count;  ///< elements of each array
  DataType type;
  ReduceOp op;  ///< `average` adds and multiplies the sum by `factor`, as combine and scale would
  double factor = 1;
};

struct Kernels {
  std::string_view name;  ///< "avx512", "avx2" or "plain"

  /// out[i] = a[i] op b[i]; `out` may be a or b. `average` adds.
  void (*combine)(void* out, const void* a, const void* b, std::size_t count, DataType type,
                  ReduceOp op);

  /// values[i] *= factor, in the type's own precision. REQUIRES: a floating-point type.
  void (*scale)(void* values, std::size_t count, DataType type, double factor);

  /// REQUIRES: 2 or 4 inputs; as many outputs, or one.
  void (*pass)(const Pass& pass);
};

/// The fastest kernels that this machine can run. All versions give the same bits.
const Kernels& kernels();

// One per vector unit. REQUIRES: the machine has that unit.
const Kernels& kernels_for(VectorUnit unit);
const Kernels& plain_kernels();
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();

}  // namespace lockstep::internal::comm
