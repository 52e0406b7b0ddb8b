#include "cli/config_file.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "run/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <toml++/toml.h>

namespace lockstep::internal::cli {

namespace {

using nlohmann::json;

constexpr std::uint64_t kLongestFile = 1 << 20;
constexpr int kDeepest = 32;  ///< levels of JSON, which is copied recursively
constexpr std::size_t kMostKeys = 1000;
/// Every dot of a TOML file may open a table, and tables within tables are destroyed recursively.
constexpr std::ptrdiff_t kMostDots = 4096;

/// Tables and dates, which no option takes, become objects.
json to_json(const toml::node& node) {
  json value = json::object();
  node.visit([&]<typename T>(const T& element) {
    if constexpr (toml::is_array<T>) {
      value = json::array();
      for (const toml::node& one : element) value.push_back(to_json(one));
    } else if constexpr (toml::is_string<T> || toml::is_number<T> || toml::is_boolean<T>) {
      value = element.get();
    }
  });
  return value;
}

void parse_toml(const std::string& text, ConfigFile& file) {
  if (std::count(text.begin(), text.end(), '.') > kMostDots)
    file.fail(1, fmt::format("more than {} dots: this is not a file of options", kMostDots));
  try {
    for (const auto& [key, node] : toml::parse(text))
      file.entries.push_back({std::string(key.str()), to_json(node), key.source().begin.line});
  } catch (const toml::parse_error& error) {
    file.fail(error.source().begin.line, std::string(error.description()));
  }
  std::stable_sort(file.entries.begin(), file.entries.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
}

/// Reads text and counts the lines that it has read.
class LineCounter {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  LineCounter(const char* at, std::size_t* line) : at_(at), line_(line) {}

  reference operator*() const { return *at_; }
  LineCounter& operator++() {
    if (*at_++ == '\n') ++*line_;
    return *this;
  }
  friend bool operator==(const LineCounter& a, const LineCounter& b) { return a.at_ == b.at_; }
  friend bool operator!=(const LineCounter& a, const LineCounter& b) { return a.at_ != b.at_; }

 private:
  const char* at_;
  std::size_t* line_;
};

/// The parser itself keeps the last of two values that have the same key.
void parse_json(const std::string& text, ConfigFile& file) {
  std::size_t line = 1;
  const auto note_key = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kDeepest) file.fail(line, "too many levels of brackets");
    if (event != json::parse_event_t::key || depth != 1) return true;
    const std::string key = parsed.get<std::string>();
    for (const ConfigEntry& entry : file.entries)
      if (entry.key == key)
        file.fail(line, fmt::format("'{}' is given twice, first in line {}", key, entry.line));
    if (file.entries.size() == kMostKeys)
      file.fail(line, fmt::format("more than {} keys", kMostKeys));
    file.entries.push_back({key, {}, line});
    return true;
  };
  try {
    const json object = json::parse(LineCounter(text.data(), &line),
                                    LineCounter(text.data() + text.size(), &line), note_key);
    for (ConfigEntry& entry : file.entries) {
      entry.value = object.at(entry.key);
      if (entry.key == "format" && entry.value != run::kFormat)
        file.fail(entry.line,
                  "unknown format: the file was written by a newer version of Lockstep");
    }
  } catch (const json::exception& error) {
    file.fail(line, error.what());
  }
}

}  // namespace

void ConfigFile::fail(std::size_t line, const std::string& message) const {
  throw UsageError(fmt::format("{}:{}: {}", path.string(), line, message));
}

ConfigFile parse_config(const std::string& text, const std::filesystem::path& path) {
  ConfigFile file{.path = path, .recorded = false, .entries = {}};
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  file.recorded = first != std::string::npos && text[first] == '{';
  file.recorded ? parse_json(text, file) : parse_toml(text, file);
  return file;
}

ConfigFile read_config_file(const std::filesystem::path& path) {
  return parse_config(read_file(path, kLongestFile), path);
}

}  // namespace lockstep::internal::cli
