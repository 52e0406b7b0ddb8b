#include "base/version.h"

namespace lockstep::internal {

std::string version() {
  return LOCKSTEP_VERSION;
}

}  // namespace lockstep::internal
