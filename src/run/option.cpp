#include "run/option.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace lockstep::internal::run {

namespace {

using nlohmann::json;

template <typename T>
struct Unwrapped {
  using Type = T;
  static constexpr bool kList = false, kOptional = false;
};
template <typename T>
struct Unwrapped<std::optional<T>> : Unwrapped<T> {
  static constexpr bool kOptional = true;
};
template <typename T>
struct Unwrapped<std::vector<T>> {
  using Type = T;
  static constexpr bool kList = true, kOptional = false;
};

/// Calls `action(field, type of one value)`.
template <typename Action>
auto visit_field(const Option& option, const Action& action) {
  return std::visit(
      [&]<typename T>(T* field) { return action(*field, typename Unwrapped<T>::Type()); },
      option.field);
}

/// Calls `action` with each value of the field: none of an empty optional, several of a list.
template <typename Action>
void for_each_value(const Option& option, const Action& action) {
  visit_field(option, [&]<typename T>(T& field, const auto&) {
    if constexpr (Unwrapped<T>::kList)
      for (const auto& value : field) action(value);
    else if constexpr (Unwrapped<T>::kOptional) {
      if (field) action(*field);
    } else
      action(field);
  });
}

template <typename T>
constexpr bool kWhole = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <typename T>
constexpr bool kNumber = kWhole<T> || std::is_same_v<T, double>;

std::string type_name(const Option& option) {
  return visit_field(option, []<typename T, typename V>(T&, const V&) -> std::string {
    constexpr bool list = Unwrapped<T>::kList;
    if constexpr (std::is_same_v<V, bool>) return "true or false";
    if constexpr (kWhole<V>) return list ? "a list of whole numbers" : "a whole number";
    if constexpr (kNumber<V>) return "a number";
    return list ? "a list of strings" : "a string";
  });
}

bool is_whole(const Option& option) {
  return visit_field(option, []<typename V>(auto&, const V&) { return kWhole<V>; });
}

bool is_list(const Option& option) {
  return visit_field(option, []<typename T>(T&, const auto&) { return Unwrapped<T>::kList; });
}

/// "from 1 to 1024", "1 or more epochs"; empty if every number is allowed.
std::string range_text(const Option& option) {
  const Range& range = option.range;
  const bool whole = is_whole(option);
  if (std::isinf(range.low)) return "";
  if (!std::isinf(range.high) && range.without_low)
    return fmt::format("above {} and {} {}", range.low, range.without_high ? "below" : "up to",
                       range.high);
  if (!std::isinf(range.high))
    return fmt::format("from {} to {}{}", range.low, range.without_high ? "below " : "",
                       range.high);
  if (range.without_low) return fmt::format("above {}", range.low);
  return whole
             ? fmt::format("{} or more{}{}", range.low, option.unit.empty() ? "" : " ", option.unit)
             : fmt::format("from {} up", range.low);
}

[[noreturn]] void refuse(const Option& option, const std::string& value) {
  const bool bounded = !std::isinf(option.range.high) || is_whole(option);
  const std::string allowed = (bounded ? "" : "a number ") + range_text(option);
  throw UsageError(fmt::format("{} {} {}: {} must be {}{}{}", option.name,
                               is_list(option) ? "has" : "is", value,
                               is_list(option) ? "each" : "it", allowed,
                               option.range.note.empty() ? "" : "; ", option.range.note));
}

bool is_choice(const Option& option, const std::string& value) {
  return option.choices.empty() || (value.empty() && option.may_be_empty) ||
         std::find(option.choices.begin(), option.choices.end(), value) != option.choices.end();
}

/// False if the value is of another type, or out of the type's range.
bool assign(const json& value, bool& field) {
  if (value.is_boolean()) field = value.get<bool>();
  return value.is_boolean();
}

template <typename T>
requires kWhole<T>
bool assign(const json& value, T& field) {
  if (!value.is_number_integer()) return false;
  const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                               : std::in_range<T>(value.get<std::int64_t>());
  if (fits) field = value.get<T>();
  return fits;
}

bool assign(const json& value, double& field) {
  if (value.is_number()) field = value.get<double>();
  return value.is_number();
}

template <typename T>
requires std::is_same_v<T, std::string> || std::is_same_v<T, std::filesystem::path>
bool assign(const json& value, T& field) {
  if (!value.is_string()) return false;
  std::string text = value.get<std::string>();
  if (text.find('\0') != std::string::npos) return false;  // system calls would cut it there
  field = std::move(text);
  return true;
}

template <typename T>
bool assign(const json& value, std::optional<T>& field) {
  if (value.is_null()) return field.reset(), true;
  return assign(value, field.emplace());
}

/// One value is a list, too. An empty list is refused: no option has a use for it.
template <typename T>
bool assign(const json& value, std::vector<T>& field) {
  std::vector<T> values;
  for (const json& element : value.is_array() ? value : json::array({value}))
    if (!assign(element, values.emplace_back())) return false;
  if (values.empty()) return false;
  field = std::move(values);
  return true;
}

std::string text(bool value) {
  return value ? "on" : "off";
}
std::string text(const std::filesystem::path& value) {
  return value.string();
}
template <typename T>
std::string text(const T& value) {
  return fmt::format("{}", value);
}

}  // namespace

bool Range::contains(double value) const {
  return std::isfinite(value) && (without_low ? value > low : value >= low) &&
         (without_high ? value < high : value <= high);
}

std::string key_of(const Option& option) {
  return option.name.substr(2);
}

std::string json_key_of(const Option& option) {
  std::string key = option.name.substr(option.clears ? std::string_view("--no-").size() : 2);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

json value_of(const Option& option) {
  return visit_field(option, []<typename T>(const T& field, const auto&) -> json {
    if constexpr (Unwrapped<T>::kOptional)
      return field ? json(*field) : json();
    else if constexpr (std::is_same_v<T, std::filesystem::path>)
      return field.string();
    else
      return field;
  });
}

void set_value(const Option& option, const json& value) {
  const bool fits = visit_field(option, [&](auto& field, auto&&) { return assign(value, field); });
  if (!fits)
    throw UsageError(fmt::format("{} must be {}, not {}", option.name, type_name(option),
                                 value.is_structured() ? value.type_name() : value.dump()));
}

std::string text_of(const Option& option) {
  std::vector<std::string> texts;
  for_each_value(option, [&](const auto& value) { texts.push_back(text(value)); });
  if (option.clears) return texts.front() == "on" ? "off" : "on";
  return fmt::format("{}", fmt::join(texts, ","));
}

std::vector<std::string> arguments_of(const Option& option) {
  const std::string value = text_of(option);
  const bool flag = std::holds_alternative<bool*>(option.field);
  if (value.empty() || (flag && value == "off")) return {};
  return flag ? std::vector{option.name} : std::vector{option.name, value};
}

std::string describe_values(const Option& option) {
  if (!option.choices.empty()) {
    const std::string text = enumerate(option.choices);
    const std::size_t last = text.rfind(" and ");
    return last == std::string::npos ? text : text.substr(0, last) + " or" + text.substr(last + 4);
  }
  const std::string range = range_text(option);
  const std::string comma = range.find(" or more") == std::string::npos ? " " : ", ";
  return type_name(option) + (range.empty() ? "" : comma + range);
}

void check(const Option& option) {
  for_each_value(option, [&]<typename T>(const T& value) {
    if constexpr (kNumber<T>) {
      if (!range_text(option).empty() && !option.range.contains(static_cast<double>(value)))
        refuse(option, text(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!is_choice(option, value))
        throw UsageError(fmt::format("{} is '{}': choose one of {}", option.name, value,
                                     enumerate(option.choices)));
    }
  });
}

const Option* find(const Options& options, std::string_view name) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const Option& option) { return option.name == name; });
  return found == options.end() ? nullptr : &*found;
}

bool applies(const Option& option, const Options& options) {
  const Condition& condition = option.only_with;
  if (condition.option.empty()) return true;
  const Option* other = find(options, condition.option);
  return other && std::find(condition.values.begin(), condition.values.end(), text_of(*other)) !=
                      condition.values.end();
}

}  // namespace lockstep::internal::run
