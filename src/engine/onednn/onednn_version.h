// The version of oneDNN in this build.
#pragma once

#include <map>
#include <string>

namespace lockstep::internal::engine {

/// oneDNN's part of library_versions(); empty in a build without it.
std::map<std::string, std::string> onednn_version();

}  // namespace lockstep::internal::engine
