// File descriptors, of which a process and a host may have only so many: a rank needs about three
// for every other rank.
#pragma once

#include <lockstep/error.h>

#include <string>

namespace lockstep {

/// Raises the soft limit on open files to the hard one, at most to 131072: some programs walk
/// through all descriptors that they may have.
void raise_descriptor_limit();

/// Whether this errno says that the process or its host has no room for another descriptor.
bool is_descriptor_shortage(int error);
/// The same for a socket, which needs memory of the kernel's, too.
bool is_socket_shortage(int error);

/// What such an errno means on this host, and what to do about it.
std::string describe_descriptor_shortage(int error);

/// There is no room for another descriptor: trying again does not help.
class DescriptorShortageError : public Error {
 public:
  /// `what` could not be done: "connect to 10.0.0.1:4711".
  DescriptorShortageError(const std::string& what, int error);
  int code() const { return code_; }

 private:
  int code_;
};

/// Throws DescriptorShortageError if errno, of a call that just failed, is such a shortage.
void throw_if_descriptor_shortage(const std::string& what);

}  // namespace lockstep
