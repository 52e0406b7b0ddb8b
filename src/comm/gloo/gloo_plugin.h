// What the library with the Gloo that is kept apart (see gloo_apart.cpp) offers: one function,
// which fills in how to make a wire. Both sides are built together, from the same headers.
#pragma once

#include "comm/mesh/mesh_transport.h"

namespace lockstep::comm {

using GlooPlugin = void(WireKind* kind);

constexpr const char* kGlooPluginFile = "liblockstep_gloo.so";
constexpr const char* kGlooPluginEntry = "lockstep_gloo_plugin";

}  // namespace lockstep::comm
