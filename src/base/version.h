// Which Lockstep this is.
#pragma once

#include <string>

namespace lockstep {

/// "0.1.0".
std::string version();

}  // namespace lockstep
