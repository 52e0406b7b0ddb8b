// Which oneDNN this build has, if any.
#pragma once

#include <map>
#include <string>

namespace lockstep::engine {

/// oneDNN's part of library_versions(); empty in a build without it.
std::map<std::string, std::string> onednn_version();

}  // namespace lockstep::engine
