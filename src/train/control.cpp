#include "train/control.h"

#include <lockstep/error.h>

#include <fmt/format.h>

namespace lockstep::train {

namespace {

template <typename T>
nlohmann::json json_of(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

}  // namespace

void Control::validate(std::size_t epochs) const {
  if (stop_at_accuracy && !(*stop_at_accuracy > 0 && *stop_at_accuracy <= 1))
    throw UsageError(fmt::format(
        "--stop-at-accuracy is {}: it must be a share of the test images, above 0 and up to 1; "
        "0.98 is 98 %",
        *stop_at_accuracy));
  if (patience && *patience < 1)
    throw UsageError(fmt::format("--patience is {}: it must be 1 or more epochs", *patience));
  if (patience && epochs > 0 && static_cast<std::size_t>(*patience) >= epochs)
    throw UsageError(fmt::format(
        "--patience is {}: it must be from 1 to below the {} epochs that there are at most, or it "
        "never comes to an end (--epochs)",
        *patience, epochs));
  if (plateau && *plateau < 1)
    throw UsageError(fmt::format("--plateau is {}: it must be 1 or more epochs", *plateau));
  if (!(plateau_factor > 0 && plateau_factor < 1))
    throw UsageError(
        fmt::format("--plateau-factor is {}: it must be above 0 and below 1", plateau_factor));
  if (!plateau && plateau_factor != Control().plateau_factor)
    throw UsageError("--plateau-factor is for --plateau: say after how many epochs");
  if (check_every && *check_every < 1)
    throw UsageError(fmt::format("--check-every is {}: it must be 1 or more steps", *check_every));
}

std::map<std::string, std::string> Control::options() const {
  std::map<std::string, std::string> given;
  auto add = [&given](const char* option, const auto& value) {
    if (value) given[option] = fmt::format("{}", *value);
  };
  add("--stop-at-accuracy", stop_at_accuracy);
  add("--patience", patience);
  add("--plateau", plateau);
  if (plateau) given["--plateau-factor"] = fmt::format("{}", plateau_factor);
  add("--check-every", check_every);
  if (balance) given["--balance"] = "";
  return given;
}

void add_to_json(const Control& control, nlohmann::json& config) {
  config.update({{"stop_at_accuracy", json_of(control.stop_at_accuracy)},
                 {"patience", json_of(control.patience)},
                 {"plateau", json_of(control.plateau)},
                 {"plateau_factor", control.plateau_factor},
                 {"check_every", json_of(control.check_every)},
                 {"balance", control.balance}});
}

}  // namespace lockstep::train
