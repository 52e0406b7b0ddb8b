// Replaces gloo_wire.cpp if Gloo is not installed.
#include "comm/gloo/gloo_wire.h"

namespace lockstep::internal::comm {

bool gloo_built() {
  return false;
}

WireKind gloo_wire() {
  throw UsageError("this build of Lockstep has no gloo: install libgloo-dev and build again");
}

}  // namespace lockstep::internal::comm
