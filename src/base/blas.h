// The BLAS that this process has loaded, if it is OpenBLAS. Nothing is linked with it: it comes
// with libtorch, or does not.
#pragma once

#include <string>

namespace lockstep {

/// The processor whose kernels OpenBLAS computes with; empty with another BLAS or none.
std::string blas_kernels();

/// OpenBLAS knows processors by their model numbers, and on one that is newer than itself takes the
/// kernels of 2004, several times slower than what the processor could do. Where it did, this makes
/// it choose again, by the processor's instructions; a user's OPENBLAS_CORETYPE has the last word.
/// Call it before anything computes. The first call decides, others do nothing.
void use_fast_blas_kernels();

/// For the process. OpenBLAS has threads of its own, which torch's setting does not reach.
void set_blas_threads(int threads);

}  // namespace lockstep
