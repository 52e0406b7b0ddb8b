#include "engine/engines.h"

namespace lockstep::internal::engine {

std::vector<std::string> engine_names() {
  std::vector<std::string> names{"auto", "torch"};
  if (LOCKSTEP_HAS_ONEDNN) names.emplace_back("onednn");
  return names;
}

std::vector<std::string> convolution_choices() {
  return {"auto", "fixed", "direct"};
}

}  // namespace lockstep::internal::engine
