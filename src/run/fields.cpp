#include "run/fields.h"

#include <lockstep/error.h>

#include "base/files.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::internal::run {

namespace {

constexpr std::uint64_t kLongest = 64 << 20;  // largest file in bytes
constexpr int kDeepest = 32;                  // Lockstep writes no file with deeper nesting

nlohmann::json parse(const std::filesystem::path& file) {
  const auto limit_depth = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kDeepest)
      throw FileError(
          fmt::format("{}: nested too deeply: Lockstep did not write this file", file.string()));
    return true;
  };
  nlohmann::json json = nlohmann::json::parse(read_file(file, kLongest), limit_depth, false);
  if (json.is_discarded())
    throw FileError(
        fmt::format("{}: not valid JSON: the file was damaged or edited", file.string()));
  return json;
}

}  // namespace

Fields::Fields(nlohmann::json object, std::string source)
    : object_(std::move(object)), source_(std::move(source)) {
  if (!object_.is_object()) throw FileError(fmt::format("{}: not a JSON object", source_));
}

const nlohmann::json& Fields::get(const char* name) const {
  static const nlohmann::json null;
  const auto found = object_.find(name);
  return found == object_.end() ? null : *found;
}

void Fields::fail(const char* name, const char* expected) const {
  throw FileError(
      fmt::format("{}: '{}' is not {}: the file was damaged or edited, or written by another "
                  "version of Lockstep",
                  source_, name, expected));
}

std::string Fields::text(const char* name) const {
  const nlohmann::json& value = get(name);
  if (value.is_null()) return {};
  if (!value.is_string()) fail(name, "a string");
  return value.get<std::string>();
}

std::optional<double> Fields::number(const char* name) const {
  const nlohmann::json& value = get(name);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number()) fail(name, "a number");
  return value.get<double>();
}

std::size_t Fields::count(const char* name) const {
  const double value = number(name).value_or(0);
  constexpr double kMost = 1ull << 53;
  if (!(value >= 0) || value > kMost || value != std::floor(value)) fail(name, "a whole number");
  return static_cast<std::size_t>(value);
}

Fields Fields::object(const char* name) const {
  const nlohmann::json& value = get(name);
  if (!value.is_null() && !value.is_object()) fail(name, "an object");
  return {value.is_null() ? nlohmann::json::object() : value, fmt::format("{}: {}", source_, name)};
}

std::vector<Fields> Fields::list(const char* name) const {
  const nlohmann::json& value = get(name);
  if (!value.is_null() && !value.is_array()) fail(name, "a list");
  std::vector<Fields> list;
  for (std::size_t i = 0; i < value.size(); ++i)
    list.emplace_back(value[i], fmt::format("{}: {}[{}]", source_, name, i));
  return list;
}

std::vector<std::string> Fields::texts(const char* name) const {
  const nlohmann::json& value = get(name);
  if (!value.is_null() && !value.is_array()) fail(name, "a list");
  std::vector<std::string> texts;
  for (const nlohmann::json& text : value) {
    if (!text.is_string()) fail(name, "a list of strings");
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

Fields read_fields(const std::filesystem::path& file) {
  Fields fields(parse(file), file.string());
  const std::size_t format = fields.count("format");
  if (format > kFormat)
    throw FileError(
        fmt::format("{}: written by a newer version of Lockstep (format {}, this version reads up "
                    "to {}): update Lockstep",
                    file.string(), format, kFormat));
  return fields;
}

}  // namespace lockstep::internal::run
