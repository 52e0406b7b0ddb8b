#include "comm/gloo/gloo_plugin.h"

#include "comm/gloo/gloo_wire.h"

extern "C" void lockstep_gloo_plugin(lockstep::internal::comm::WireKind* kind) {
  *kind = lockstep::internal::comm::gloo_wire();
}
