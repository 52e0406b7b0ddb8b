// Takes gloo_wire.cpp's place where Gloo is not installed.
#include "comm/gloo/gloo_wire.h"

namespace lockstep::comm {

bool gloo_built() {
  return false;
}

WireKind gloo_wire() {
  throw UsageError("this build of Lockstep has no gloo: install libgloo-dev and build again");
}

}  // namespace lockstep::comm
