// In builds without oneDNN, or whose libtorch has another version of it inside.
#include <lockstep/error.h>

#include "engine/onednn/onednn_engine.h"

namespace lockstep::engine {

bool has_onednn_engine() {
  return false;
}

std::unique_ptr<Engine> make_onednn_engine(const OnednnEngineOptions&) {
  throw UsageError("this build has no onednn engine: use --engine torch");
}

}  // namespace lockstep::engine
