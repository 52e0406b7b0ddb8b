#include "engine/library_versions.h"

#include "base/blas.h"
#include "engine/onednn/onednn_version.h"

#include <torch/version.h>

namespace lockstep::internal::engine {

std::map<std::string, std::string> library_versions() {
  std::map<std::string, std::string> versions = onednn_version();
  versions["libtorch"] = TORCH_VERSION;
  if (const std::string kernels = blas_kernels(); !kernels.empty())
    versions["BLAS kernels"] = kernels;
  return versions;
}

}  // namespace lockstep::internal::engine
