#include "base/descriptors.h"

#include "base/host_name.h"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace lockstep::internal {

void raise_descriptor_limit() {
  constexpr rlim_t kEnough = 1 << 17;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min(limit.rlim_max, kEnough);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

bool is_descriptor_shortage(int error) {
  return error == EMFILE || error == ENFILE;
}

bool is_socket_shortage(int error) {
  return is_descriptor_shortage(error) || error == ENOBUFS || error == ENOMEM;
}

std::string describe_descriptor_shortage(int error) {
  if (error == EMFILE) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return fmt::format(
        "process {} on {} may have only {} open files, connections included: raise that limit "
        "(ulimit -n, or LimitNOFILE= of a service)",
        ::getpid(), host_name(), limit.rlim_cur);
  }
  if (error == ENFILE)
    return fmt::format("{} has reached its limit of open files: raise fs.file-max (sysctl)",
                       host_name());
  return fmt::format("the kernel of {} has no memory left for open files ({})", host_name(),
                     std::system_category().message(error));
}

DescriptorShortageError::DescriptorShortageError(const std::string& what, int error)
    : Error(fmt::format("cannot {}: {}", what, describe_descriptor_shortage(error))),
      code_(error) {}

void throw_if_descriptor_shortage(const std::string& what) {
  if (is_socket_shortage(errno)) throw DescriptorShortageError(what, errno);
}

}  // namespace lockstep::internal
