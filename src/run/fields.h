// Fields: a JSON object read from a file that may be damaged or edited. Every access checks the
// type of the value; an error names the file and the field.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::run {

/// The newest `format` of run folders that this version can read.
constexpr int kFormat = 1;

class Fields {
 public:
  /// `source` names the object in error messages. Throws FileError if `object` is not an object.
  Fields(nlohmann::json object, std::string source);

  // Each accessor throws FileError for a value of another type. A null field counts as missing.

  /// Empty if missing.
  std::string text(const char* name) const;
  std::optional<double> number(const char* name) const;
  /// A non-negative integer; 0 if missing.
  std::size_t count(const char* name) const;
  /// An empty object if missing.
  Fields object(const char* name) const;
  /// A list of objects; empty if missing.
  std::vector<Fields> list(const char* name) const;
  /// A list of strings; empty if missing.
  std::vector<std::string> texts(const char* name) const;

  const nlohmann::json& json() const { return object_; }
  const std::string& source() const { return source_; }

  /// Throws FileError: the field is not what was `expected`.
  [[noreturn]] void fail(const char* name, const char* expected) const;

 private:
  /// Null if missing.
  const nlohmann::json& get(const char* name) const;

  nlohmann::json object_;
  std::string source_;
};

/// Reads the object in a file. Throws FileError if the file cannot be read, holds no object, or was
/// written in a newer format.
Fields read_fields(const std::filesystem::path& file);

}  // namespace lockstep::internal::run
