// Which Lockstep this is.
#pragma once

#include <string>

namespace lockstep {

/// "0.1.0".
std::string version();

/// A checksum of the sources that this was built from, as far as they decide what ranks send each
/// other and what they must do alike: "3f2a91c05b7de846". Two builds of the same sources have the
/// same one, on any host. cmake/source_digest.cmake makes it.
std::string source_digest();

}  // namespace lockstep
