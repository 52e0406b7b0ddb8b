#include "base/version.h"

namespace lockstep {

std::string version() {
  return LOCKSTEP_VERSION;
}

}  // namespace lockstep
