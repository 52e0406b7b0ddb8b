// The version of Lockstep.
#pragma once

#include <string>

namespace lockstep::internal {

/// "0.1.0".
std::string version();

/// A checksum of the sources that determine the messages between ranks and the behaviour that must
/// agree on all ranks: "3f2a91c05b7de846". Two builds of the same sources have the same checksum on
/// any host. Computed by cmake/source_digest.cmake.
std::string source_digest();

}  // namespace lockstep::internal
