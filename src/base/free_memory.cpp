#include "base/free_memory.h"

#include "base/files.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>

namespace lockstep::internal {

namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// The number in a file with a single number; unlimited for "max" or a missing file.
std::uint64_t number_in(const char* path) {
  std::uint64_t value = 0;
  std::istringstream file(read_system_file(path));
  return file >> value ? value : kUnlimited;
}

std::uint64_t machine_has_left() {
  std::istringstream file(read_system_file("/proc/meminfo"));
  std::string name;
  std::uint64_t kilobytes = 0;
  std::string unit;
  while (file >> name >> kilobytes && std::getline(file, unit))
    if (name == "MemAvailable:") return kilobytes * 1024;
  return kUnlimited;
}

std::uint64_t group_has_left() {
  const std::uint64_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::uint64_t used = number_in("/sys/fs/cgroup/memory.current");
  if (limit == kUnlimited || used == kUnlimited) return kUnlimited;
  return limit - std::min(used, limit);
}

}  // namespace

std::uint64_t free_memory() {
  return std::min(machine_has_left(), group_has_left());
}

}  // namespace lockstep::internal
