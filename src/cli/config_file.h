// Files for --config: options in TOML, or the config.json of a recorded run.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::internal::cli {

struct ConfigEntry {
  std::string key;
  nlohmann::json value;
  std::size_t line = 0;
};

struct ConfigFile {
  std::filesystem::path path;
  bool recorded = false;             ///< JSON: the options and properties of a run
  std::vector<ConfigEntry> entries;  ///< by line; no key twice

  /// Throws UsageError: "job.toml:3: …".
  [[noreturn]] void fail(std::size_t line, const std::string& message) const;
};

/// Text that begins with "{" is JSON, any other TOML. Throws UsageError with `path` and line for
/// bad syntax or a key that is given twice.
ConfigFile parse_config(const std::string& text, const std::filesystem::path& path);
/// Parses a file. Throws FileError too, if it cannot be read or is too long.
ConfigFile read_config_file(const std::filesystem::path& path);

}  // namespace lockstep::internal::cli
