// In builds without oneDNN, or whose libtorch has another version of it inside.
#include <lockstep/error.h>

#include "engine/onednn/onednn_engine.h"

namespace lockstep::engine {

bool has_onednn_engine() {
  return false;
}

nlohmann::json choose_convolutions(const OnednnEngineOptions&,
                                   const std::function<void(const std::string&)>&) {
  return {};
}

bool are_convolution_methods(const nlohmann::json&) {
  return false;
}

std::unique_ptr<Engine> make_onednn_engine(const OnednnEngineOptions&) {
  throw UsageError("this build has no onednn engine: use --engine torch");
}

}  // namespace lockstep::engine
