// File descriptors, whose number is limited per process and per host: a rank needs about three for
// every other rank.
#pragma once

#include <lockstep/error.h>

#include <string>

namespace lockstep::internal {

/// Raises the soft limit on open files to the hard limit, at most to 131072: some programs iterate
/// over all possible descriptors.
void raise_descriptor_limit();

/// Whether this errno means that the process or its host is out of descriptors.
bool is_descriptor_shortage(int error);
/// The same for a socket, which also needs kernel memory.
bool is_socket_shortage(int error);

/// The meaning of such an errno on this host, and the remedy.
std::string describe_descriptor_shortage(int error);

/// No descriptor is available: retrying does not help.
class DescriptorShortageError : public Error {
 public:
  /// `what` is the action that failed: "connect to 10.0.0.1:4711".
  DescriptorShortageError(const std::string& what, int error);
  int code() const { return code_; }

 private:
  int code_;
};

/// Throws DescriptorShortageError if errno, from a call that just failed, is such a shortage.
void throw_if_descriptor_shortage(const std::string& what);

}  // namespace lockstep::internal
