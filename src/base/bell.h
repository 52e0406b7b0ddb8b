// Bell: ends the sleep of a thread that polls descriptors.
#pragma once

#include "base/check.h"
#include "base/descriptors.h"
#include "base/unique_fd.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace lockstep {

/// Any thread may ring it.
class Bell {
 public:
  /// Throws DescriptorShortageError.
  Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!fd_) throw_if_descriptor_shortage("make an event descriptor");
    LOCKSTEP_CHECK(fd_, "eventfd failed");
  }

  /// Readable from ring() to silence().
  int fd() const { return fd_.get(); }

  void ring() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(fd_.get(), &one, sizeof one);
  }
  void silence() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(fd_.get(), &count, sizeof count);
  }

 private:
  UniqueFd fd_;
};

}  // namespace lockstep
