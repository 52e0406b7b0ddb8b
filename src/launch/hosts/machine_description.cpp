#include "launch/hosts/machine_description.h"

#include "base/files.h"
#include "base/text.h"
#include "launch/hosts/machine.h"

#include <sys/utsname.h>

#include <algorithm>
#include <string_view>

namespace lockstep::internal::launch {

namespace {

using Path = std::filesystem::path;

/// The text between the separator and the end of the first line that begins with `name`, without
/// surrounding blanks and quotes.
std::string value_in(const Path& path, std::string_view name, char separator) {
  for (const std::string& line : split(read_system_file(path), '\n')) {
    if (!line.starts_with(name)) continue;
    constexpr std::string_view kAround = " \t\"'";
    const std::size_t begin = line.find_first_not_of(kAround, line.find(separator) + 1);
    if (begin == std::string::npos) return {};
    return line.substr(begin, line.find_last_not_of(kAround) + 1 - begin);
  }
  return {};
}

std::string kernel() {
  utsname names{};
  return ::uname(&names) == 0 ? std::string(names.sysname) + " " + names.release : "";
}

}  // namespace

MachineDescription describe_machine(const Path& root) {
  MachineDescription machine;
  machine.processor = value_in(root / "proc/cpuinfo", "model name", ':');
  const Cores cores = find_cores();
  machine.cores = cores.online;  // not only those that a launcher has pinned this worker to
  if (cores.quota)
    machine.cores = std::clamp(static_cast<int>(*cores.quota + 0.5), 1, machine.cores);
  machine.memory_bytes = find_memory().total;
  machine.system = value_in(root / "etc/os-release", "PRETTY_NAME=", '=');
  if (!machine.system.empty()) machine.system += ", ";
  machine.system += kernel();
  return machine;
}

}  // namespace lockstep::internal::launch
