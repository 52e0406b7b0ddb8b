// Kernels: the inner loops of reductions, compiled once for each vector unit and chosen at run
// time.
#pragma once

#include <lockstep/types.h>

#include <cstddef>
#include <string_view>

namespace lockstep::comm {

struct Kernels {
  std::string_view name;  ///< "avx512", "avx2" or "plain"

  /// out[i] = a[i] op b[i]; `out` may be a or b. `average` adds.
  void (*combine)(void* out, const void* a, const void* b, std::size_t count, DataType type,
                  ReduceOp op);

  /// values[i] *= factor, in the type's own precision. REQUIRES: a floating-point type.
  void (*scale)(void* values, std::size_t count, DataType type, double factor);
};

/// The best that this machine can run. All give the same bits.
const Kernels& kernels();

// One a vector unit; calling one that the machine lacks ends the process.
const Kernels& plain_kernels();
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();

}  // namespace lockstep::comm
