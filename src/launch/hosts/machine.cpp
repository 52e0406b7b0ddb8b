#include "launch/hosts/machine.h"

#include "base/files.h"
#include "base/free_memory.h"
#include "base/text.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <sched.h>
#include <sstream>
#include <string>

namespace lockstep::internal::launch {

namespace {

using Path = std::filesystem::path;

/// Version 1 writes "no limit" as a number close to this.
constexpr std::uint64_t kUnlimited = 1ull << 60;

/// The group of a controller ("" for version 2) in /proc/self/cgroup: "4:memory:/a/b".
std::optional<std::string> group_path(const Path& root, const std::string& controller) {
  for (const std::string& line : split(read_system_file(root / "proc/self/cgroup"), '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    const std::vector<std::string> controllers = split(names, ',');
    const bool found = controller.empty() ? names.empty()
                                          : std::find(controllers.begin(), controllers.end(),
                                                      controller) != controllers.end();
    if (found) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// The smallest limit that `read` finds in the group's folder or a folder above it.
template <typename T>
std::optional<T> tightest(const Path& mount, const std::string& group,
                          const std::function<std::optional<T>(const Path&)>& read) {
  std::optional<T> least;
  Path folder = Path(group).relative_path();
  // In a container the path may be one of the host's, of which only the mount itself is visible.
  for (;;) {
    if (const auto limit = read(mount / folder)) least = least ? std::min(*least, *limit) : *limit;
    if (folder.empty()) return least;
    folder = folder.parent_path();
  }
}

template <typename T>
std::optional<T> number_in(const Path& path) {
  std::istringstream file(read_system_file(path));
  T value{};
  return file >> value ? std::optional<T>(value) : std::nullopt;
}

std::optional<double> quota_in(const Path& folder) {
  // Version 2: "150000 100000" or "max 100000", microseconds in each period.
  std::istringstream file(read_system_file(folder / "cpu.max"));
  double quota = 0;
  double period = 0;
  if (file >> quota >> period && period > 0) return quota / period;
  const auto time = number_in<double>(folder / "cpu.cfs_quota_us");
  const auto every = number_in<double>(folder / "cpu.cfs_period_us");
  if (time && every && *time > 0 && *every > 0) return *time / *every;
  return std::nullopt;
}

std::optional<std::uint64_t> limit_in(const Path& folder) {
  auto limit = number_in<std::uint64_t>(folder / "memory.max");
  if (!limit) limit = number_in<std::uint64_t>(folder / "memory.limit_in_bytes");
  return limit && *limit < kUnlimited ? limit : std::nullopt;
}

/// The limit of a controller, for either version of control groups.
template <typename T>
std::optional<T> find_limit(const Path& root, const std::string& controller,
                            const std::function<std::optional<T>(const Path&)>& read) {
  const Path mount = root / "sys/fs/cgroup";
  if (const auto group = group_path(root, controller))
    return tightest<T>(mount / controller, *group, read);
  return tightest<T>(mount, group_path(root, "").value_or("/"), read);
}

}  // namespace

int Cores::usable() const {
  int cores = std::min(online, allowed);
  if (quota) cores = std::min(cores, static_cast<int>(*quota + 0.5));
  return std::max(1, cores);
}

std::optional<double> cpu_quota(const Path& root) {
  return find_limit<double>(root, "cpu", quota_in);
}

std::optional<std::uint64_t> memory_limit(const Path& root) {
  return find_limit<std::uint64_t>(root, "memory", limit_in);
}

Cores find_cores() {
  Cores cores;
  cores.online = std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t set;
  // Fails on machines with more cores than the set holds; then all cores count as allowed.
  cores.allowed = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : cores.online;
  cores.quota = cpu_quota();
  return cores;
}

MachineMemory find_memory() {
  MachineMemory memory;
  struct sysinfo info {};
  if (::sysinfo(&info) == 0) memory.total = std::uint64_t{info.totalram} * info.mem_unit;
  memory.free = free_memory();
  memory.limit = memory_limit();
  return memory;
}

}  // namespace lockstep::internal::launch
