#include "run/metrics_line.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <limits>

namespace lockstep::internal::run {

namespace {

constexpr double kMissing = std::numeric_limits<double>::infinity();  // JSON has no such number
constexpr double kNull = std::numeric_limits<double>::quiet_NaN();

enum Field { kRank, kEpoch, kIteration, kLoss, kAccuracy, kSamples, kRate, kFirstTime };
constexpr std::array<const char*, kFirstTime> kNames{"rank",     "epoch",   "iteration", "loss",
                                                     "accuracy", "samples", "lr"};
constexpr std::size_t kFields = kFirstTime + std::size(observe::kTimes);
constexpr std::size_t kOther = kFields;

const char* name_of(std::size_t field) {
  return field < kFirstTime ? kNames[field] : observe::kTimes[field - kFirstTime].first;
}

std::size_t field_of(std::string_view name) {
  for (std::size_t field = 0; field < kFields; ++field)
    if (name == name_of(field)) return field;
  return kOther;
}

/// Receives the parts of the text from the SAX parser. A function that returns false ends parsing.
class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::array<double, kFields> values;
  std::string kind;
  std::string problem;

  Handler() { values.fill(kMissing); }

  bool start_object(std::size_t) override {
    return ++depth_ == 1 || fail("contains a nested object");
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return fail("contains a list"); }
  bool end_array() override { return true; }
  bool key(string_t& name) override {
    is_kind_ = name == "kind";
    field_ = is_kind_ ? kOther : field_of(name);
    return true;
  }
  bool null() override { return number(kNull); }
  bool boolean(bool) override { return field_ == kOther || fail_field("is not a number"); }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool string(string_t& value) override {
    if (is_kind_) kind = value;
    return field_ == kOther || fail_field("is not a number");
  }
  bool binary(binary_t&) override { return fail("contains binary values"); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return fail(fmt::format("not valid JSON at character {}", position));
  }

 private:
  bool number(double value) {
    if (depth_ != 1) return fail("not an object");
    if (field_ != kOther) values[field_] = value;
    return true;
  }
  bool fail(std::string what) {
    problem = std::move(what);
    return false;
  }
  bool fail_field(const char* what) { return fail(fmt::format("'{}' {}", name_of(field_), what)); }

  int depth_ = 0;
  bool is_kind_ = false;
  std::size_t field_ = kOther;
};

std::string problem_of(std::size_t field, double value) {
  constexpr double kMostRanks = 1024, kMostCount = 1ull << 53;
  const bool score = field == kLoss || field == kAccuracy;
  const auto says = [&](const char* what) { return fmt::format("'{}' {}", name_of(field), what); };
  const bool optional = field == kSamples || field == kRate;
  if (value == kMissing) return optional ? "" : says("is missing");
  if (std::isnan(value)) return score ? "" : says("is not a number");
  if (value < 0) return field == kLoss ? "" : says("is negative");
  if (field > kIteration) return {};
  if (value != std::floor(value)) return says("is not a whole number");
  return value >= (field == kRank ? kMostRanks : kMostCount) ? says("is too large") : "";
}

}  // namespace

std::string parse_metrics_line(std::string_view text, MetricsLine& line) {
  Handler handler;
  const bool parsed = nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  if (!parsed) return handler.problem;
  if (handler.kind.empty()) return "'kind' is missing or not a string";
  line.kind = handler.kind;
  line.iteration = handler.values[kIteration];
  if (line.kind != "iteration" && line.kind != "epoch" && line.kind != "test") return {};
  for (std::size_t field = 0; field < kFields; ++field)
    if (std::string problem = problem_of(field, handler.values[field]); !problem.empty())
      return problem;
  line.rank = static_cast<int>(handler.values[kRank]);
  line.epoch = handler.values[kEpoch];
  line.loss = handler.values[kLoss];
  line.accuracy = handler.values[kAccuracy];
  line.samples = handler.values[kSamples] == kMissing ? kNull : handler.values[kSamples];
  line.lr = handler.values[kRate] == kMissing ? kNull : handler.values[kRate];
  for (std::size_t i = 0; i < std::size(observe::kTimes); ++i)
    line.times.*observe::kTimes[i].second = handler.values[kFirstTime + i];
  return {};
}

}  // namespace lockstep::internal::run
