// Keeps SIGPIPE from ending the process while this thread, or a thread that it starts, writes to
// sockets without MSG_NOSIGNAL. A SIGPIPE sent by another process is still delivered.
#pragma once

#include <signal.h>

#include <ctime>

namespace lockstep::internal::comm {

class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~SigpipeGuard() {
    const timespec no_time{0, 0};
    if (!was_pending_) ::sigtimedwait(&sigpipe_, nullptr, &no_time);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;

 private:
  bool was_pending_ = false;
  sigset_t sigpipe_;
  sigset_t before_;
};

}  // namespace lockstep::internal::comm
