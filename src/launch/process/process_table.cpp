#include "launch/process/process_table.h"

#include "base/files.h"
#include "base/text.h"

#include <fmt/format.h>

#include <unistd.h>

#include <charconv>
#include <dirent.h>
#include <memory>
#include <sstream>
#include <string_view>

namespace lockstep::internal::launch {

std::vector<pid_t> numbers_in(const char* folder) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder), ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    pid_t number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc())
      numbers.push_back(number);
  }
  return numbers;
}

Processes children_of_this_process() {
  Processes children;
  for (pid_t thread : numbers_in("/proc/self/task")) {
    std::istringstream words(read_system_file(fmt::format("/proc/self/task/{}/children", thread)));
    for (pid_t child = 0; words >> child;) children.insert(child);
  }
  return children;
}

bool has_mark(pid_t process, const std::string& mark) {
  const std::string before = fmt::format("{}=", kMarkVariable);
  for (const std::string& entry :
       split(read_system_file(fmt::format("/proc/{}/environ", process)), '\0')) {
    if (!entry.starts_with(before)) continue;
    for (const std::string& each : split(entry.substr(before.size()), ':'))
      if (each == mark) return true;
  }
  return false;
}

Processes marked_processes(const std::string& mark) {
  // The environment of an ended process is empty.
  Processes found;
  for (pid_t process : numbers_in("/proc"))
    if (process != ::getpid() && has_mark(process, mark)) found.insert(process);
  return found;
}

}  // namespace lockstep::internal::launch
