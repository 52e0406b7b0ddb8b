// Parses the options of synthetic images: "1x28x28,train=500".
#include <lockstep/error.h>

#include "base/text.h"
#include "data/synthetic.h"

#include <fmt/format.h>

#include <limits>

namespace lockstep::internal::data {

namespace {

[[noreturn]] void refuse(std::string_view part) {
  throw UsageError(
      fmt::format("'{}' is not an option of synthetic images: use CxHxW (channels, height, width), "
                  "classes=N, train=N, test=N or seed=N, separated by commas, as in "
                  "synthetic:1x28x28,train=500",
                  part));
}

int parse_side(const std::string& text) {
  return static_cast<int>(parse_integer(text, "a side of synthetic images", 1, 1 << 14));
}

void parse_shape(const std::string& text, ImageShape& shape) {
  const std::vector<std::string> sides = split(text, 'x');
  if (sides.size() != 3) refuse(text);
  shape = {.channels = parse_side(sides[0]),
           .height = parse_side(sides[1]),
           .width = parse_side(sides[2])};
}

void parse_setting(const std::string& text, std::size_t equals, SyntheticOptions& options) {
  const std::string name = text.substr(0, equals);
  const auto number = [&](std::int64_t lowest, std::int64_t highest) {
    return parse_integer(text.substr(equals + 1), "synthetic's " + name, lowest, highest);
  };
  constexpr std::int64_t kMostImages = std::numeric_limits<std::uint32_t>::max();
  if (name == "classes")
    options.classes = static_cast<int>(number(1, 256));
  else if (name == "train")
    options.train = static_cast<std::size_t>(number(1, kMostImages));
  else if (name == "test")
    options.test = static_cast<std::size_t>(number(1, kMostImages));
  else if (name == "seed")
    options.seed = static_cast<std::uint64_t>(number(0, std::numeric_limits<std::int64_t>::max()));
  else
    refuse(text);
}

}  // namespace

SyntheticOptions parse_synthetic(std::string_view text) {
  SyntheticOptions options;
  if (text.empty()) return options;
  if (text.front() != ':' || text.size() == 1) refuse(text);
  for (const std::string& part : split(text.substr(1), ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos)
      parse_shape(part, options.shape);
    else
      parse_setting(part, equals, options);
  }
  return options;
}

}  // namespace lockstep::internal::data
