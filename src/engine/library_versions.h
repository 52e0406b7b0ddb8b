// The libraries that engines compute with: other versions may round differently.
#pragma once

#include <map>
#include <string>

namespace lockstep::engine {

/// By what is to be said of them: "libtorch" → "1.13.0", "oneDNN" → "2.6.3", "oneDNN's
/// instructions" → "0x27", "BLAS kernels" → "SkylakeX". What this process does not have is left
/// out.
std::map<std::string, std::string> library_versions();

}  // namespace lockstep::engine
