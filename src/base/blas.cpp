#include "base/blas.h"

#include "base/vector_unit.h"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

namespace lockstep::internal {

namespace {

constexpr const char* kVariable = "OPENBLAS_CORETYPE";
constexpr const char* kOldest = "Prescott";

template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

/// The OpenBLAS name of a known processor with the same instruction sets; nullptr if OpenBLAS'
/// oldest kernels may be the right ones.
const char* kernels_of_processor() {
  return version_for<const char*>(vector_unit(), nullptr, "Haswell", "SkylakeX");
}

void choose_again() {
  auto* quit = find<void()>("gotoblas_dynamic_quit");
  auto* choose = find<void()>("gotoblas_dynamic_init");
  const char* kernels = kernels_of_processor();
  if (!quit || !choose || !kernels || ::getenv(kVariable) || blas_kernels() != kOldest) return;
  ::setenv(kVariable, kernels, 1);
  quit();
  choose();
  ::unsetenv(kVariable);  // child processes have their own BLAS
}

}  // namespace

std::string blas_kernels() {
  auto* name = find<const char*()>("openblas_get_corename");
  return name ? name() : "";
}

void use_fast_blas_kernels() {
  static std::once_flag once;
  std::call_once(once, choose_again);
}

void set_blas_threads(int threads) {
  if (auto* set = find<void(int)>("openblas_set_num_threads")) set(threads);
}

}  // namespace lockstep::internal
