// The interface of the library that contains a separate copy of Gloo (see gloo_loader.cpp): one
// function, which fills in how to make a wire. Both sides are built together, from the same
// headers.
#pragma once

#include "comm/mesh/mesh_transport.h"

namespace lockstep::internal::comm {

using GlooPlugin = void(WireKind* kind);

constexpr const char* kGlooPluginFile = "liblockstep_gloo.so";
constexpr const char* kGlooPluginEntry = "lockstep_gloo_plugin";

}  // namespace lockstep::internal::comm
