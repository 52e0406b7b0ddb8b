// The BLAS loaded in this process, if it is OpenBLAS. Lockstep does not link with it: libtorch
// brings it, if at all.
#pragma once

#include <string>

namespace lockstep::internal {

/// The processor model whose kernels OpenBLAS uses; empty for another BLAS or none.
std::string blas_kernels();

/// OpenBLAS selects kernels by processor model, and on a model newer than itself falls back to
/// kernels of 2004, which are several times slower. In that case this function makes it select
/// again, by the processor's instruction sets; the variable OPENBLAS_CORETYPE has precedence. Call
/// it before any computation. Calls after the first do nothing.
void use_fast_blas_kernels();

/// Sets the thread count of the process. OpenBLAS has its own threads, which torch's setting does
/// not affect.
void set_blas_threads(int threads);

}  // namespace lockstep::internal
