// WakeEvent: wakes a thread that polls file descriptors (an eventfd).
#pragma once

#include "base/check.h"
#include "base/descriptors.h"
#include "base/unique_fd.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace lockstep::internal {

/// Thread safety: any thread.
class WakeEvent {
 public:
  /// Throws DescriptorShortageError.
  WakeEvent() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!fd_) throw_if_descriptor_shortage("make an event descriptor");
    LOCKSTEP_CHECK(fd_, "eventfd failed");
  }

  /// Readable from wake() to reset().
  int fd() const { return fd_.get(); }

  void wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(fd_.get(), &one, sizeof one);
  }
  void reset() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(fd_.get(), &count, sizeof count);
  }

 private:
  UniqueFd fd_;
};

}  // namespace lockstep::internal
