// Program: a command line and an environment, made ready before fork, because between fork and exec
// hardly anything is safe to do.
#pragma once

#include "base/unique_fd.h"

#include <map>
#include <string>
#include <vector>

namespace lockstep::launch {

/// Texts as exec wants them.
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

  /// This process's variables without those of `removed`, and with `changes`.
  static std::vector<std::string> environment_with(
      const std::map<std::string, std::string>& changes, const std::vector<const char*>& removed);

  /// In a child: never returns.
  [[noreturn]] void execute(const ExecTexts& environment) const;

  /// Throws UsageError if a child could not execute it.
  void require_started() const;

 private:
  const std::string name_;
  const ExecTexts command_;
  UniqueFd failures_;  ///< where children that could not exec have written why
  UniqueFd report_;    ///< its other end; closed by a successful exec
};

}  // namespace lockstep::launch
