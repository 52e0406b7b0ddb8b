#include "launch/process/program.h"

#include <lockstep/error.h>

#include "base/files.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace lockstep::internal::launch {

ExecTexts::ExecTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
  for (std::string& text : texts_) pointers_.push_back(text.data());
  pointers_.push_back(nullptr);
}

Program::Program(const std::vector<std::string>& command)
    : name_(command.empty() ? "" : command[0]), command_(command) {
  if (command.empty()) throw UsageError("there is no program to start: write it after --");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    throw Error(fmt::format("cannot start '{}': {}", name_, last_system_error()));
  failures_.reset(ends[0]);
  report_.reset(ends[1]);
}

std::vector<std::string> Program::environment_with(
    const std::map<std::string, std::string>& changes, const std::vector<const char*>& removed) {
  std::vector<std::string> environment;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (changes.count(name) == 0 &&
        std::find(removed.begin(), removed.end(), name) == removed.end())
      environment.push_back(text);
  }
  for (const auto& [name, value] : changes) environment.push_back(name + "=" + value);
  return environment;
}

void Program::execute(const ExecTexts& environment) const {
  // Workers are not in the terminal's foreground group: reading from it would stop them.
  redirect_to_null(STDIN_FILENO);
  ::execvpe(name_.c_str(), command_.get(), environment.get());
  const int error = errno;
  [[maybe_unused]] ssize_t put = ::write(report_.get(), &error, sizeof error);
  std::_Exit(127);
}

void Program::require_started() const {
  int error = 0;
  if (::read(failures_.get(), &error, sizeof error) == sizeof error)
    throw UsageError(fmt::format("cannot start '{}': {}", name_, std::strerror(error)));
}

}  // namespace lockstep::internal::launch
