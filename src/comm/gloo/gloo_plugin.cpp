#include "comm/gloo/gloo_plugin.h"

#include "comm/gloo/gloo_wire.h"

extern "C" void lockstep_gloo_plugin(lockstep::comm::WireKind* kind) {
  *kind = lockstep::comm::gloo_wire();
}
