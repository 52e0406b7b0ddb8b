// A file for --config: bad syntax and bad values are refused with a line, and accepted values fit
// their options.
#include <lockstep/error.h>

#include "cli/config_file.h"
#include "fuzz.h"
#include "run/option.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace lockstep::internal::fuzz {

namespace {

/// A field of every type that an option can have.
struct Fields {
  bool flag = false;
  int number = 1;
  std::size_t size = 1;
  double real = 1;
  std::string text;
  std::filesystem::path path;
  std::optional<int> maybe;
  std::optional<double> maybe_real;
  std::vector<int> numbers;
  std::vector<std::size_t> sizes;
  std::vector<std::string> texts;

  run::Options options() {
    return {{.name = "--flag", .field = &flag},
            {.name = "--number", .field = &number, .range = run::between(1, 1024)},
            {.name = "--size", .field = &size, .range = run::at_least(1)},
            {.name = "--real", .field = &real, .range = run::above(0)},
            {.name = "--text", .field = &text, .choices = {"a", "b"}, .may_be_empty = true},
            {.name = "--path", .field = &path},
            {.name = "--maybe", .field = &maybe, .range = run::at_least(0)},
            {.name = "--maybe-real", .field = &maybe_real},
            {.name = "--numbers", .field = &numbers, .range = run::between(1, 1024)},
            {.name = "--sizes", .field = &sizes},
            {.name = "--texts", .field = &texts}};
  }
};

/// Sets the field, unless the value is refused. It can then be recorded and read again.
void set(const run::Option& option, const nlohmann::json& value) {
  try {
    run::set_value(option, value);
    run::check(option);
  } catch (const UsageError&) {
    return;
  }
  const std::string text = run::text_of(option);
  run::set_value(option, run::value_of(option));
  require(run::text_of(option) == text, "a value stays the same when it is recorded and read");
}

void check(const cli::ConfigFile& file, std::size_t lines) {
  std::set<std::string> keys;
  std::size_t line = 1;
  for (const cli::ConfigEntry& entry : file.entries) {
    require(keys.insert(entry.key).second, "no key twice");
    require(entry.line >= line && entry.line <= lines, "entries are ordered by line");
    line = entry.line;
  }
  Fields fields;
  for (const run::Option& option : fields.options())
    for (const cli::ConfigEntry& entry : file.entries) set(option, entry.value);
}

}  // namespace

std::vector<std::string> seeds() {
  return {"# a job\nflag = true\nnumber = 8\nreal = 1e-4\ntext = \"a\"\nnumbers = [1, 2]\n",
          "[table]\nkey = 'literal'\nwhen = 2026-11-18T12:00:00Z\n[[array]]\na.b.c = 0x1F\n",
          "text = \"\"\"\nseveral lines \\u00e4\"\"\"\nmany = [[1.5, inf], [], {a = 1}]\n",
          R"({"format": 1, "flag": false, "size": 3, "texts": ["x", "y"],
"machine": {"cores": 2}, "maybe": null, "real": -1.5e3})"};
}

}  // namespace lockstep::internal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::internal;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  try {
    fuzz::check(cli::parse_config(text, "file"), lines);
  } catch (const lockstep::UsageError& error) {
    fuzz::require(std::string_view(error.what()).starts_with("file:"), "an error names the line");
  }
  return 0;
}
