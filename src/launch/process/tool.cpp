#include "launch/process/tool.h"

#include <lockstep/error.h>

#include "base/deadline.h"
#include "base/files.h"
#include "base/temporary_file.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "launch/process/process_table.h"
#include "launch/process/program.h"
#include "launch/process/supervisor.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <spawn.h>

namespace lockstep::internal::launch {

namespace {

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

/// What a program wrote to a file.
struct Captured {
  const UnnamedFile file{};
  const UniqueFd descriptor = open_file(file.path(), O_WRONLY);

  std::string text() const { return read_file(file.path()); }
};

/// The end of a text, from the start of a line if it can be.
std::string end_of(const std::string& text) {
  constexpr std::size_t kMost = 400;
  if (text.size() <= kMost) return text;
  const std::size_t line = text.find('\n', text.size() - kMost);
  return text.substr(line + 1 < text.size() ? line + 1 : text.size() - kMost);
}

}  // namespace

std::string find_tool(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  const std::string folders = fmt::format("{}:/usr/sbin:/sbin", path ? path : "/usr/bin:/bin");
  for (const std::string& folder : split(folders, ':'))
    if (const std::string file = folder + "/" + name; ::access(file.c_str(), X_OK) == 0)
      return file;
  return "";
}

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

std::string read_tool(const std::vector<std::string>& command,
                      const std::map<std::string, std::string>& variables,
                      std::chrono::milliseconds timeout) {
  const Program program(command);
  const Captured output, errors;
  Supervisor supervisor;
  std::map<std::string, std::string> changes = variables;
  changes[kMarkVariable] = supervisor.mark();
  const ExecTexts environment(Program::environment_with(changes, {}));
  const pid_t parent = ::getpid();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0)
    throw Error(fmt::format("cannot start {}: {}", command.at(0), last_system_error()));
  if (child == 0) {
    Supervisor::prepare_child(parent);
    ::dup2(output.descriptor.get(), STDOUT_FILENO);
    ::dup2(errors.descriptor.get(), STDERR_FILENO);
    program.execute(environment);
  }
  supervisor.add({.rank = 0, .pid = child, .host = ""});
  constexpr std::chrono::seconds kGrace(3);  // after an interrupt
  const Deadline deadline = Deadline::after(timeout);
  const JobResult result = supervisor.wait(
      kGrace, {.ended = {}, .stop = {}, .overdue = [&] { return deadline.passed(); }});
  supervisor.end_descendants();
  program.require_started();
  if (result.interrupted_by != 0) throw Error("interrupted");
  if (result.code() != 0 && deadline.passed())
    throw Error(fmt::format("{} was ended after {:.0f} s: {}", command[0], deadline.seconds(),
                            end_of(errors.text())));
  if (result.code() != 0)
    throw Error(fmt::format("{} failed with code {}: {}", command[0], result.code(),
                            end_of(errors.text())));
  return output.text();
}

}  // namespace lockstep::internal::launch
