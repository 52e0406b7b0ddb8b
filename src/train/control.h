// Control: what a run's workers agree on while they train, beside gradients: when it has learnt
// enough, whether their weights are still the same, and who computes how much.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace lockstep::train {

struct Control {
  /// Stop after the first epoch whose test is at least so accurate: a share, above 0 to 1.
  std::optional<double> stop_at_accuracy;
  /// Stop after so many epochs in a row whose test has no smaller loss than the best before them.
  std::optional<int> patience;
  /// After so many epochs in a row whose test has no smaller loss than the best before them,
  /// multiply the learning rate by `plateau_factor`, and count anew.
  std::optional<int> plateau;
  double plateau_factor = 0.1;
  /// Every so many steps, make sure that all workers have the same weights.
  std::optional<int> check_every;
  /// Share out the global batch by the workers' speed, instead of evenly.
  bool balance = false;

  /// Whether epochs end with a test.
  bool tests_epochs() const { return stop_at_accuracy || patience || plateau; }

  /// Throws UsageError that names the option and its range, for a run of so many epochs; 0 for as
  /// many as its iterations need. What else of a run they do not go with, TrainConfig knows.
  void validate(std::size_t epochs) const;

  /// Those that are given, by their names on the command line; flags with an empty value.
  std::map<std::string, std::string> options() const;
};

/// For config.json: its keys are added to `config`.
void add_to_json(const Control& control, nlohmann::json& config);

}  // namespace lockstep::train
