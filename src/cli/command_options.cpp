#include "cli/command_options.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <type_traits>

namespace lockstep::internal::cli {

namespace {

/// Keys of config.json that are not options: results of options, and descriptions of the machine.
const std::set<std::string> kNoOptions{"arithmetic",         "command", "conv_methods", "format",
                                       "gradient_bytes",     "lr_full", "machine",      "method",
                                       "planned_iterations", "version", "parameters"};

std::vector<const CommandOptions*>& registered() {
  static std::vector<const CommandOptions*> commands;
  return commands;
}

template <typename T>
constexpr bool kIsOptional =
    std::is_same_v<T, std::optional<int>> || std::is_same_v<T, std::optional<double>>;
template <typename T>
constexpr bool kIsList =
    std::is_same_v<T, std::vector<int>> || std::is_same_v<T, std::vector<std::size_t>> ||
    std::is_same_v<T, std::vector<std::string>>;

std::string help_of(const run::Option& option) {
  std::string help = option.help;
  if (!option.only_with.values.empty())
    help = fmt::format("{}: {}", fmt::join(option.only_with.values, ", "), help);
  if (!option.choices.empty()) help += fmt::format(": {}", fmt::join(option.choices, ", "));
  return help;
}

CLI::Option* add(CLI::App& command, const run::Option& option) {
  const std::string help = help_of(option);
  return std::visit(
      [&]<typename T>(T* field) {
        if constexpr (std::is_same_v<T, bool>) {
          if (!option.clears) return command.add_flag(option.name, *field, help);
          return command.add_flag_callback(
              option.name, [field] { *field = false; }, help);
        } else {
          CLI::Option* added = command.add_option(option.name, *field, help);
          if constexpr (kIsList<T>) added->delimiter(',');
          if constexpr (!kIsOptional<T>) added->capture_default_str();
          return added;
        }
      },
      option.field);
}

}  // namespace

CommandOptions::CommandOptions(CLI::App& command, run::Options own, run::Options job, unsigned bit)
    : command_(command) {
  for (run::Option& option : own) option.recorded = false;
  for (run::Option& option : job) {
    if ((option.commands & bit) != 0)
      options_.push_back(std::move(option));
    else
      others_.push_back(std::move(option));
  }
  options_.insert(options_.end(), own.begin(), own.end());
  command
      .add_option("--config", path_,
                  "read options from FILE: TOML, or the config.json of a run; options on the "
                  "command line take precedence")
      ->type_name("FILE");
  for (const run::Option& option : options_) {
    add(command, option)->group(std::string(option.group));
    defaults_.push_back(run::text_of(option));
  }
  registered().push_back(this);
}

CommandOptions::~CommandOptions() {
  std::erase(registered(), this);
}

const std::vector<const CommandOptions*>& CommandOptions::all() {
  return registered();
}

std::size_t CommandOptions::count_given() const {
  const auto typed = [](const CLI::Option* option) { return option->count() > 0; };
  return command_.get_options(typed).size() + in_file_.size();
}

void CommandOptions::finish(const std::set<std::string>& elsewhere) {
  if (!path_.empty()) read(read_config_file(path_), elsewhere);
  for (const run::Option& option : options_) {
    run::check(option);
    const run::Condition& condition = option.only_with;
    if (asked_for(option.name) && !run::applies(option, options_))
      throw UsageError(fmt::format("{} applies to {} {}: leave it out with {}", option.name,
                                   condition.option, enumerate(condition.values),
                                   run::text_of(*run::find(options_, condition.option))));
  }
}

void CommandOptions::read(const ConfigFile& file, const std::set<std::string>& elsewhere) {
  file_ = file;
  for (const ConfigEntry& entry : file.entries) {
    try {
      const run::Option* option = file.recorded ? find_recorded(entry) : find_named(entry);
      if (!option || typed(option->name)) continue;
      if (file.recorded && must_resolve_again(*option, elsewhere)) continue;
      const bool inverted = option->clears && !file.recorded && entry.value.is_boolean();
      run::set_value(*option, inverted ? nlohmann::json(!entry.value.get<bool>()) : entry.value);
      run::check(*option);
      in_file_.insert(option->name);
    } catch (const UsageError& error) {
      file.fail(entry.line, error.what());
    }
  }
}

/// Whether the record's value must not be used: a launcher decides it, or this command has other
/// values of the options that it was resolved from.
bool CommandOptions::must_resolve_again(const run::Option& option,
                                        const std::set<std::string>& elsewhere) const {
  const auto differs = [&](const std::string& source) {
    return typed(source) || elsewhere.contains(source) || run::find(others_, source) != nullptr;
  };
  return elsewhere.contains(option.name) || std::ranges::any_of(option.resolved_from, differs);
}

/// Null for a key of the record that this command does not need.
const run::Option* CommandOptions::find_recorded(const ConfigEntry& entry) const {
  const auto has_key = [&](const run::Option& option) {
    return run::json_key_of(option) == entry.key;
  };
  for (const run::Option& option : options_)
    if (option.recorded && has_key(option)) return &option;
  if (kNoOptions.contains(entry.key) || std::ranges::any_of(others_, has_key)) return nullptr;
  throw UsageError(fmt::format("'{}' is not an option of lockstep {}", entry.key, command()));
}

const run::Option* CommandOptions::find_named(const ConfigEntry& entry) const {
  const run::Option* option = run::find(options_, "--" + entry.key);
  if (option && !option->group.empty()) return option;
  std::string dashed = entry.key;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  const bool meant = dashed != entry.key && run::find(options_, "--" + dashed) != nullptr;
  throw UsageError(fmt::format("'{}' is not an option of lockstep {}{}", entry.key, command(),
                               meant ? fmt::format(": write '{}'", dashed) : ""));
}

}  // namespace lockstep::internal::cli
