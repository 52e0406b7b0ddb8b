// Fields: a JSON object out of a file that anyone may have changed. Values are asked for by name
// and checked then: what is of the wrong kind is an error that names the file and the field.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::report {

/// The newest `format` of run folders that this version knows.
constexpr int kFormat = 1;

class Fields {
 public:
  /// `source` is what messages call it. Throws FileError if it is not an object.
  Fields(nlohmann::json object, std::string source);

  // Each throws FileError for a value of another kind. A field that is null counts as missing.

  /// Empty if missing.
  std::string text(const char* name) const;
  std::optional<double> number(const char* name) const;
  /// A whole number from 0 up; 0 if missing.
  std::size_t count(const char* name) const;
  /// An object without fields if missing.
  Fields object(const char* name) const;
  /// Objects; none if missing.
  std::vector<Fields> list(const char* name) const;
  /// Empty if missing.
  std::vector<std::string> texts(const char* name) const;

  const nlohmann::json& json() const { return object_; }
  const std::string& source() const { return source_; }

  /// FileError: what is wrong with a field.
  [[noreturn]] void fail(const char* name, const char* expected) const;

 private:
  /// Null if missing.
  const nlohmann::json& get(const char* name) const;

  nlohmann::json object_;
  std::string source_;
};

/// The object in a file. Throws FileError if it cannot be read, is not one, or is of a format that
/// only newer versions know.
Fields read_fields(const std::filesystem::path& file);

}  // namespace lockstep::report
