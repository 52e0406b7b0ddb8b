#include "launch/process/process_table.h"

#include "base/text.h"
#include "base/unique_fd.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <dirent.h>
#include <memory>
#include <sstream>
#include <string_view>

namespace lockstep::internal::launch {

namespace {

/// The content of a file below /proc; empty if the process is gone or belongs to another user.
std::string read_proc(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char block[4096];
  for (ssize_t got = 0; file && (got = ::read(file.get(), block, sizeof block)) > 0;)
    text.append(block, static_cast<std::size_t>(got));
  return text;
}

}  // namespace

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
    std::istringstream words(read_proc(fmt::format("/proc/self/task/{}/children", thread)));
    for (pid_t child = 0; words >> child;) children.insert(child);
  }
  return children;
}

bool has_mark(pid_t process, const std::string& mark) {
  const std::string before = fmt::format("{}=", kMarkVariable);
  for (const std::string& entry :
       split(read_proc(fmt::format("/proc/{}/environ", process)), '\0')) {
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
