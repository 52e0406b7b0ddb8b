// Program: a command line and an environment, prepared before fork, because little is safe between
// fork and exec.
#pragma once

#include "base/unique_fd.h"

#include <map>
#include <string>
#include <vector>

namespace lockstep::internal::launch {

/// Texts in the form that exec requires.
class ExecTexts {
 public:
  explicit ExecTexts(std::vector<std::string> texts);
  ExecTexts(const ExecTexts&) = delete;
  ExecTexts& operator=(const ExecTexts&) = delete;

  char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

class Program {
 public:
  /// Throws UsageError for an empty command.
  explicit Program(const std::vector<std::string>& command);

  /// This process's variables without `removed` and with `changes`.
  static std::vector<std::string> environment_with(
      const std::map<std::string, std::string>& changes, const std::vector<const char*>& removed);

  /// Executes the program. Call it in a child: it never returns.
  [[noreturn]] void execute(const ExecTexts& environment) const;

  /// Throws UsageError if a child could not execute the program.
  void require_started() const;

 private:
  const std::string name_;
  const ExecTexts command_;
  UniqueFd failures_;  ///< children that could not exec write the errno there
  UniqueFd report_;    ///< its write end; closed by a successful exec
};

}  // namespace lockstep::internal::launch
