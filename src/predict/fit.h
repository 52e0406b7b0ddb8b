// Fits a network's numbers to measured times, by least squares.
#pragma once

#include "predict/closed_forms.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::internal::predict {

/// A timed collective.
struct Measurement {
  Collective collective;
  comm::RecordedWorld world;
  double seconds = 0;
};

struct Fit {
  NetworkModel network;
  int cores = 0;  ///< cores of all ranks together; 0 for enough
  std::vector<Measurement> measurements;

  /// The model's time for a measurement.
  double predicted(const Measurement& measurement) const;
  /// |predicted − measured| / measured.
  double error(const Measurement& measurement) const;
  double median_error() const;
};

/// Fits non-negative numbers that minimise the relative errors: their squares if they are small;
/// outliers count little. `start` has the name, the number of cores per message, and initial values
/// for numbers that the measurements do not determine. Throws UsageError if there are fewer
/// measurements than numbers.
Fit fit(const NetworkModel& start, int cores, const std::vector<Measurement>& measurements);

nlohmann::json to_json(const NetworkModel& network);
/// Throws FileError that names the source.
NetworkModel network_from_json(const nlohmann::json& json, const std::string& source);

/// A fit is stored as one file in a folder: "gloo.json".
void save_fit(const std::filesystem::path& folder, const Fit& fit);
/// Throws FileError for a damaged file; none if there is no such fit.
std::optional<Fit> load_fit(const std::filesystem::path& folder, const std::string& name);

}  // namespace lockstep::internal::predict
