// Replaces gloo_wire.cpp if libtorch contains another version of Gloo. Two versions in one process
// would call each other's functions, with classes of different layouts. The real gloo_wire.cpp and
// the Gloo that it was built with therefore form a separate library, which is loaded here, resolves
// its own symbols first, and exports them to no other library.
#include "comm/gloo/gloo_plugin.h"
#include "comm/gloo/gloo_wire.h"

#include <fmt/format.h>

#include <dlfcn.h>

namespace lockstep::internal::comm {

namespace {

[[noreturn]] void throw_not_loaded() {
  throw UsageError(fmt::format(
      "cannot load Lockstep's gloo library: {}. It is installed in lib/lockstep/: add that folder "
      "to the program's RUNPATH, as find_package(lockstep) does",
      dlerror()));
}

GlooPlugin* load() {
  // Never closed: wires and exceptions that it made may live as long as the process.
  void* library = dlopen(kGlooPluginFile, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) throw_not_loaded();
  void* entry = dlsym(library, kGlooPluginEntry);
  if (entry == nullptr) throw_not_loaded();
  return reinterpret_cast<GlooPlugin*>(entry);
}

}  // namespace

bool gloo_built() {
  return true;
}

WireKind gloo_wire() {
  static GlooPlugin* const plugin = load();
  WireKind kind;
  plugin(&kind);
  return kind;
}

}  // namespace lockstep::internal::comm
