#include "engine/onednn/onednn_version.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace lockstep::internal::engine {

std::map<std::string, std::string> onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return {{"oneDNN", fmt::format("{}.{}.{}", version->major, version->minor, version->patch)},
          {"oneDNN's instructions",
           fmt::format("{:#x}", static_cast<int>(dnnl::get_effective_cpu_isa()))}};
}

}  // namespace lockstep::internal::engine
