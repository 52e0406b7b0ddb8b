#include "launch/process/tool.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "launch/process/program.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <spawn.h>

namespace lockstep::internal::launch {

namespace {

/// The tool's path; empty if it is not installed. Administrators' folders are searched even if they
/// are not in the user's PATH.
std::string find_tool(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  const std::string folders = fmt::format("{}:/usr/sbin:/sbin", path ? path : "/usr/bin:/bin");
  for (const std::string& folder : split(folders, ':'))
    if (const std::string file = folder + "/" + name; ::access(file.c_str(), X_OK) == 0)
      return file;
  return "";
}

class SpawnActions {
 public:
  explicit SpawnActions(int complaints) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, complaints, STDERR_FILENO);
  }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

std::string read_all(const UniqueFd& file) {
  std::string text;
  std::array<char, 4096> part;
  ssize_t got = 0;
  while ((got = ::read(file.get(), part.data(), part.size())) > 0 || (got < 0 && errno == EINTR))
    if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

void require_tool(const std::string& name, const std::string& package) {
  if (find_tool(name).empty())
    throw UsageError(fmt::format("{} is not installed: install {}", name, package));
}

void run_tool(const std::vector<std::string>& command) {
  const std::string what = fmt::format("'{}'", fmt::join(command, " "));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(fmt::format("cannot run {}: {}", what, last_system_error()));
  const UniqueFd complaints(ends[0]);
  UniqueFd writer(ends[1]);
  const SpawnActions actions(writer.get());
  const ExecTexts arguments(command);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, find_tool(command.at(0)).c_str(), actions.get(), nullptr,
                                  arguments.get(), ::environ);
  if (error != 0) throw Error(fmt::format("cannot run {}: {}", what, std::strerror(error)));
  writer.reset();
  const std::string complaint = read_all(complaints);
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  if (ended < 0)
    throw Error(fmt::format("the exit status of {} is unknown: {}", what, last_system_error()));
  if (WIFSIGNALED(status))
    throw Error(fmt::format("{} was ended by signal {} ({}) {}", what, WTERMSIG(status),
                            ::strsignal(WTERMSIG(status)), complaint));
  if (status != 0) throw Error(fmt::format("{} failed: {}", what, complaint));
}

}  // namespace lockstep::internal::launch
