// Parses the shapes of schedules.
#include <lockstep/error.h>

#include "base/text.h"
#include "optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

namespace lockstep::internal::optim {

namespace {

/// The parts of a shape's text. Errors quote the whole text.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    const std::size_t colon = text.find(':');
    name_ = text.substr(0, colon);
    if (colon == std::string_view::npos) return;
    parts_ = split(text.substr(colon + 1), ',');
    if (parts_.empty()) refuse("there is nothing after the colon");
  }

  const std::string& name() const { return name_; }

  /// Throws UsageError unless there are `least` to `most` numbers.
  void require_parts(std::size_t least, std::size_t most) const {
    if (parts_.size() < least) refuse("a number is missing");
    if (parts_.size() > most) refuse("there are too many numbers");
  }

  /// The factor at this position, or `usual` if it was left out.
  double factor(std::size_t part, double usual) const {
    if (part >= parts_.size()) return usual;
    const double value = number(parts_[part]);
    if (value < 0 || value > 1)
      refuse(fmt::format("{} is a factor of the full rate: it must be from 0 to 1", parts_[part]));
    return value;
  }

  double epochs(const std::string& part) const {
    const double value = number(part);
    if (!(value > 0)) refuse(fmt::format("{} is a number of epochs: it must be more than 0", part));
    return value;
  }

  double positive(std::size_t part, double usual) const {
    if (part >= parts_.size()) return usual;
    const double value = number(parts_[part]);
    if (!(value > 0)) refuse(fmt::format("{} must be more than 0", parts_[part]));
    return value;
  }

  const std::string& part(std::size_t number) const { return parts_[number]; }

  [[noreturn]] void refuse(const std::string& why) const {
    throw UsageError(fmt::format("--schedule is '{}': {}. Schedules are written {}", text_, why,
                                 enumerate(shape_forms())));
  }

 private:
  double number(const std::string& part) const {
    char* end = nullptr;
    const double value = std::strtod(part.c_str(), &end);
    if (part.empty() || *end != '\0' || !std::isfinite(value))
      refuse(fmt::format("'{}' is not a number", part));
    return value;
  }

  std::string text_;
  std::string name_;
  std::vector<std::string> parts_;
};

Shape read_step(const Reader& reader) {
  reader.require_parts(1, 2);
  return {
      .name = "step", .epochs = {reader.epochs(reader.part(0))}, .number = reader.factor(1, 0.1)};
}

Shape read_multi_step(const Reader& reader) {
  reader.require_parts(1, 2);
  Shape shape{.name = "multi-step", .number = reader.factor(1, 0.1)};
  for (const std::string& part : split(reader.part(0), '+'))
    shape.epochs.push_back(reader.epochs(part));
  if (shape.epochs.empty()) reader.refuse("a number is missing");
  if (std::adjacent_find(shape.epochs.begin(), shape.epochs.end(), std::greater_equal<>()) !=
      shape.epochs.end())
    reader.refuse("its epochs must ascend");
  return shape;
}

Shape read_cyclic(const Reader& reader) {
  reader.require_parts(1, 2);
  return {
      .name = "cyclic", .epochs = {reader.epochs(reader.part(0))}, .number = reader.factor(1, 0.1)};
}

}  // namespace

const std::vector<std::string>& shape_forms() {
  static const std::vector<std::string> forms{
      "constant",        "step:EVERY[,FACTOR]",      "multi-step:EPOCH+EPOCH…[,FACTOR]",
      "cosine[:END]",    "polynomial[:POWER[,END]]", "cyclic:HALF[,LOW]",
      "one-cycle[:PEAK]"};
  return forms;
}

bool Shape::spans_training() const {
  return name == "cosine" || name == "polynomial" || name == "one-cycle";
}

Shape parse_shape(std::string_view text) {
  const Reader reader(text);
  if (reader.name() == "step") return read_step(reader);
  if (reader.name() == "multi-step") return read_multi_step(reader);
  if (reader.name() == "cyclic") return read_cyclic(reader);
  const std::string& name = reader.name();
  const bool polynomial = name == "polynomial";
  if (name != "constant" && name != "cosine" && name != "one-cycle" && !polynomial)
    reader.refuse("unknown schedule");
  reader.require_parts(0, name == "constant" ? 0 : polynomial ? 2 : 1);
  if (polynomial)
    return {.name = name, .number = reader.factor(1, 0), .power = reader.positive(0, 1)};
  return {.name = name, .number = reader.factor(0, name == "one-cycle" ? 0.3 : 0)};
}

}  // namespace lockstep::internal::optim
