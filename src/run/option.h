// Option: one option of a command, bound to the field that it sets. A list of options is the only
// place that names them. From it come the command line, --config files, config.json, the arguments
// passed to workers, the comparison of ranks and docs/options.md.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lockstep::internal::run {

/// The commands that have an option: bits.
enum Commands : unsigned { kTrain = 1, kCompare = 2, kScale = 4, kTraining = 7 };

/// The numbers that an option allows; NaN and infinity are never among them.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool without_low = false;    ///< low itself is not allowed
  bool without_high = false;   ///< high itself is not allowed
  std::string_view note = {};  ///< ends the error message: "0.98 is 98 %"

  bool contains(double value) const;
};

inline Range at_least(double low) {
  return {.low = low};
}
inline Range above(double low) {
  return {.low = low, .without_low = true};
}
inline Range between(double low, double high) {
  return {.low = low, .high = high};
}
inline Range from_to_below(double low, double high) {
  return {.low = low, .high = high, .without_high = true};
}

/// How the ranks of a run compare an option before the first step.
enum class SameOnRanks {
  value,          ///< the values must be equal
  whether_given,  ///< rank 0 alone uses the file, but every rank must be given one
  with_shards,    ///< the value changes results only with --shards
  at_start,       ///< equal values where the run begins; a worker that joins later may differ
  no,
};

/// Another option, and the values of it that an option is for: --beta1 is for adam.
struct Condition {
  std::string option = {};
  std::vector<std::string> values = {};
};

struct Option {
  /// The fields that an option can set. An optional is empty unless the option is given.
  using Field =
      std::variant<bool*, int*, std::size_t*, double*, std::string*, std::filesystem::path*,
                   std::optional<int>*, std::optional<double>*, std::vector<int>*,
                   std::vector<std::size_t>*, std::vector<std::string>*>;

  std::string name = {};                  ///< "--weight-decay"
  Field field = {};                       ///< not owned
  std::string_view group = {};            ///< heading in --help; empty: hidden, only for programs
  Range range = {};                       ///< of numbers
  std::string_view unit = {};             ///< of whole numbers: "epochs"
  std::vector<std::string> choices = {};  ///< of texts; empty: any
  bool may_be_empty = false;              ///< beside the choices: a text that is empty unless given
  bool clears = false;                    ///< a flag "--no-…" that sets its field to false

  unsigned commands = kTraining;
  bool identity = false;  ///< decides what a step computes: a resumed run must have the same value
  bool recorded = true;   ///< config.json has it
  /// Options from which config.json resolves the value: --workers for --threads. A command that
  /// takes one of them from elsewhere than the record resolves the value again.
  std::vector<std::string> resolved_from = {};
  bool forwarded = true;  ///< passed to the workers that mpirun starts
  SameOnRanks same = SameOnRanks::value;
  Condition only_with = {};
  std::string help = {};
};

using Options = std::vector<Option>;

/// "weight-decay": the name in --config files.
std::string key_of(const Option& option);
/// "weight_decay": the name in config.json, of the field: "shuffle" for --no-shuffle.
std::string json_key_of(const Option& option);

/// The field's value, as config.json has it; null for an empty optional.
nlohmann::json value_of(const Option& option);
/// Throws UsageError (`--batch must be a whole number, not "many"`) for a value of another type.
void set_value(const Option& option, const nlohmann::json& value);

/// The field's value, as the command line has it; flags are "on" or "off".
std::string text_of(const Option& option);
/// The words that give the option this value; none where leaving it out does.
std::vector<std::string> arguments_of(const Option& option);

/// The values that it allows: "a whole number from 1 to 1024", "lenet5, vgg11 or resnet18".
std::string describe_values(const Option& option);
/// Throws UsageError that names the option, its value and those allowed.
void check(const Option& option);

/// Null if there is none of this name.
const Option* find(const Options& options, std::string_view name);
/// Whether only_with lets it apply.
bool applies(const Option& option, const Options& options);

}  // namespace lockstep::internal::run
