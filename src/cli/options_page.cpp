#include "cli/options_page.h"

#include "cli/command_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::cli {

namespace {

constexpr std::string_view kIntroduction =
    R"(<!-- Generated: `./lockstep train --options-page > docs/options.md`. Do not edit. -->
# Options

The options of `train`, `compare`, `scale` and `launch`. `./lockstep COMMAND --help` lists those of one command.

## Options in a file

`--config FILE` reads options from a TOML file. The keys are the names of the options without the leading dashes:

```toml
model = "lenet5"
batch = 128
weight-decay = 1e-4
no-shuffle = true
```

- Options on the command line take precedence over the file.
- An unknown key, a value of the wrong type, a value out of range or a key given twice is an error that names the file and
  the line.
- A flag is `true` or `false`. A list, such as `workers` of `scale`, is an array. Paths are relative to the current folder.
- The `config.json` of a run is accepted too, by `train`, `compare` and `scale`: it has every option that the run was given.
  `compare` and `scale` ignore the options that they do not have, and `scale` also the numbers of workers and images.
- The file of `launch` has the options of `launch`. A program that `launch` starts reads its own files.
- `config.json` has the `threads`, `algorithm` and `conv` that other options resulted in. If one of those options
  (`--workers`, `--shards`, `--sync`) is on the command line, they are determined again. `compare` always determines
  `threads` again.
- With `--epochs` on the command line, the `iterations` of a `config.json` do not apply.
- If a launcher started the workers, `train` uses its number of workers, not that of the file.
)";

struct Row {
  const run::Option* option;
  std::vector<std::string> commands;
  std::vector<std::string> defaults;  ///< one for each command
};

std::string shown(const std::string& text) {
  return text.empty() ? "" : fmt::format("`{}`", text);
}

/// "64", or where commands differ "64 (compare: 16)".
std::string defaults_of(const Row& row) {
  std::string text = shown(row.defaults.front());
  for (std::size_t i = 1; i < row.commands.size(); ++i)
    if (row.defaults[i] != row.defaults.front())
      text += fmt::format(" ({}: {})", row.commands[i], shown(row.defaults[i]));
  return text;
}

std::string values_of(const run::Option& option) {
  if (std::holds_alternative<bool*>(option.field)) return "flag";
  const std::string text = run::describe_values(option);
  return text.starts_with("a ") ? text.substr(2) : text;
}

std::string meaning_of(const run::Option& option) {
  const run::Condition& condition = option.only_with;
  const std::string only =
      condition.values.empty()
          ? ""
          : fmt::format("{} {}: ", condition.option, fmt::join(condition.values, ", "));
  return only + option.help;
}

/// Rows of one heading; an option that several commands have is one row.
struct Group {
  std::string name;
  std::vector<Row> rows;
};

void add_row(std::vector<Group>& groups, const CommandOptions& command, std::size_t index) {
  const run::Option& option = command.options()[index];
  auto group = std::find_if(groups.begin(), groups.end(),
                            [&](const Group& known) { return known.name == option.group; });
  if (group == groups.end()) group = groups.insert(group, Group{std::string(option.group), {}});
  auto row = std::find_if(group->rows.begin(), group->rows.end(), [&](const Row& known) {
    return known.option->name == option.name && known.option->help == option.help;
  });
  if (row == group->rows.end()) row = group->rows.insert(row, Row{&option, {}, {}});
  row->commands.push_back(command.command());
  // The folder of the data depends on the machine.
  row->defaults.push_back(option.name == "--data-dir" ? "" : command.default_of(index));
}

std::string tables_of(const std::vector<const CommandOptions*>& commands) {
  std::vector<Group> groups;
  for (const CommandOptions* command : commands)
    for (std::size_t i = 0; i < command->options().size(); ++i)
      if (!command->options()[i].group.empty()) add_row(groups, *command, i);
  const bool several = commands.size() > 1;
  std::string text;
  for (const Group& group : groups) {
    text += fmt::format(
        "\n### {}\n\n| option | values | default |{} meaning |\n| --- | --- | --- |{} --- |\n",
        group.name, several ? " commands |" : "", several ? " --- |" : "");
    for (const Row& row : group.rows)
      text +=
          fmt::format("| `{}`{} | {} | {} |{} {} |\n", row.option->name,
                      row.option->identity ? " †" : "", values_of(*row.option), defaults_of(row),
                      several ? fmt::format(" {} |", fmt::join(row.commands, ", ")) : "",
                      meaning_of(*row.option));
  }
  return text;
}

std::string options_page() {
  std::vector<const CommandOptions*> training, launch;
  for (const CommandOptions* command : CommandOptions::all())
    (command->command() == "launch" ? launch : training).push_back(command);
  return fmt::format(
      "{}\n## `train`, `compare` and `scale`\n\nA run is resumed with the same value of every "
      "option marked †.\n{}\n## `launch`\n{}",
      kIntroduction, tables_of(training), tables_of(launch));
}

}  // namespace

void add_options_page_flag(CLI::App& command) {
  const auto print = [] {
    fmt::print("{}", options_page());
    throw CLI::Success();
  };
  command.add_flag_callback("--options-page", print)->group("");
}

}  // namespace lockstep::internal::cli
