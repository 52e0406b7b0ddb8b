// CommandOptions: the options of one command, from the command line and from --config.
#pragma once

#include "cli/config_file.h"
#include "run/option.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace lockstep::internal::cli {

class CommandOptions {
 public:
  /// Adds to `command`: those of the job's options that have the command's bit, its own, and
  /// --config. The fields' values are the defaults that --help shows. All must outlive it.
  CommandOptions(CLI::App& command, run::Options own, run::Options job = {}, unsigned bit = 0);
  ~CommandOptions();
  CommandOptions(const CommandOptions&) = delete;
  CommandOptions& operator=(const CommandOptions&) = delete;

  /// Reads --config, if given, and checks every value. The record of a run does not set the options
  /// `elsewhere`, which a launcher or the command decides. Call it after parsing, before use.
  /// Throws UsageError, or FileError for a file that cannot be read.
  void finish(const std::set<std::string>& elsewhere = {});

  /// Whether the option is on the command line, which takes precedence over the file. False for an
  /// option that the command does not have.
  bool typed(const std::string& name) const {
    const CLI::Option* option = command_.get_option_no_throw(name);
    return option && option->count() > 0;
  }
  /// Whether the option is on the command line or in the file.
  bool given(const std::string& name) const { return typed(name) || in_file_.contains(name); }
  /// The same without the record of a run, which has all options.
  bool asked_for(const std::string& name) const {
    return typed(name) || (in_file_.contains(name) && !file_.recorded);
  }
  /// The number of options and arguments on the command line and in the file.
  std::size_t count_given() const;

  const std::string& command() const { return command_.get_name(); }
  const run::Options& options() const { return options_; }
  /// The default of the option at this index, as docs/options.md shows it; empty for none.
  const std::string& default_of(std::size_t option) const { return defaults_[option]; }

  /// The options of all commands of this program, in the order in which they were added.
  static const std::vector<const CommandOptions*>& all();

 private:
  void read(const ConfigFile& file, const std::set<std::string>& elsewhere);
  bool must_resolve_again(const run::Option& option, const std::set<std::string>& elsewhere) const;
  const run::Option* find_recorded(const ConfigEntry& entry) const;
  const run::Option* find_named(const ConfigEntry& entry) const;

  CLI::App& command_;
  run::Options options_;
  run::Options others_;  ///< of the job's, the options of other commands only
  std::vector<std::string> defaults_;
  std::filesystem::path path_;
  ConfigFile file_;
  std::set<std::string> in_file_;  ///< names of options that the file has set
};

}  // namespace lockstep::internal::cli
