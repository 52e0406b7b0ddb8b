// Bell: ends the sleep of a thread that polls descriptors.
#pragma once

#include "base/check.h"
#include "base/unique_fd.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace lockstep {

/// Any thread may ring it.
class Bell {
 public:
  Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { LOCKSTEP_CHECK(fd_, "eventfd failed"); }

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
