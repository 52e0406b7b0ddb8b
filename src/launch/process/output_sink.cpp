#include "launch/process/output_sink.h"

#include "base/files.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits.h>

namespace lockstep::internal::launch {

void OutputSink::put(std::string_view bytes) {
  if (!gone_) queue_.append(bytes);
}

bool OutputSink::writable() const {
  pollfd watched{fd_, POLLOUT, 0};
  return ::poll(&watched, 1, 0) == 1;
}

std::size_t OutputSink::write_some() {
  std::size_t written = 0;
  // A writable pipe takes this much without blocking; polled each time, because standard output and
  // error may be one pipe. The descriptor's flags stay unchanged, because other processes share it.
  while (written < queue_.size() && writable()) {
    const std::size_t length = std::min<std::size_t>(queue_.size() - written, PIPE_BUF);
    const ssize_t put = ::write(fd_, queue_.data() + written, length);
    if (put < 0 && (errno == EINTR || errno == EAGAIN)) break;
    if (put < 0) {
      if (errno != EPIPE) trouble_ = last_system_error();
      gone_ = true;
      queue_.clear();
      return written;
    }
    written += static_cast<std::size_t>(put);
  }
  queue_.erase(0, written);
  return written;
}

}  // namespace lockstep::internal::launch
