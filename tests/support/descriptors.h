// A process with a shortage of file descriptors.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

namespace lockstep::internal::testing {

/// Uses up all of this process's descriptors but `room`, permanently: it may not raise its limit.
inline void leave_descriptors(int room) {
  constexpr rlim_t kLimit = 128;
  const rlimit limit{kLimit, kLimit};
  ::setrlimit(RLIMIT_NOFILE, &limit);
  std::vector<int> taken;
  for (int fd = ::open("/dev/null", O_RDONLY); fd >= 0; fd = ::dup(fd)) taken.push_back(fd);
  for (int i = 0; i < room && !taken.empty(); ++i) {
    ::close(taken.back());
    taken.pop_back();
  }
}

}  // namespace lockstep::internal::testing
