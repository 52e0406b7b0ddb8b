// The versions of the libraries that engines use: other versions may round differently.
#pragma once

#include <map>
#include <string>

namespace lockstep::internal::engine {

/// Versions by name: "libtorch" → "1.13.0", "oneDNN" → "2.6.3", "oneDNN's instructions" → "0x27",
/// "BLAS kernels" → "SkylakeX". Without the libraries that this process does not have.
std::map<std::string, std::string> library_versions();

}  // namespace lockstep::internal::engine
