// FullDisk: the kernel lets no file of this process grow beyond a limit, like a full disk.
#pragma once

#include <signal.h>
#include <sys/resource.h>

namespace lockstep::internal::testing {

/// The limit ends with the object.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  const sighandler_t handler_;
};

}  // namespace lockstep::internal::testing
