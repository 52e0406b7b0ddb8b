// Fitting a network's numbers to measured times, by least squares.
#pragma once

#include "predict/closed_forms.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::predict {

/// A collective that was timed.
struct Measurement {
  Collective collective;
  comm::RecordedWorld world;
  double seconds = 0;
};

struct Fit {
  Network network;
  int cores = 0;  ///< that the ranks shared; 0: enough for all
  std::vector<Measurement> measurements;

  /// What the model says of a measurement.
  double predicted(const Measurement& measurement) const;
  /// |predicted − measured| / measured.
  double error(const Measurement& measurement) const;
  double median_error() const;
};

/// The numbers of the network, none of them negative, that make relative errors least: their
/// squares where they are small; those that are far off hardly count. `start` has its name, how
/// many cores a message takes, and a first guess for what the measurements say nothing of. Throws
/// UsageError if there are fewer measurements than numbers.
Fit fit(const Network& start, int cores, const std::vector<Measurement>& measurements);

nlohmann::json to_json(const Network& network);
/// Throws FileError that names the source.
Network network_from_json(const nlohmann::json& json, const std::string& source);

/// Fits are kept as one file each in a folder: "gloo.json".
void save_fit(const std::filesystem::path& folder, const Fit& fit);
/// Throws FileError for a file that is damaged; none if there is no such fit.
std::optional<Fit> load_fit(const std::filesystem::path& folder, const std::string& name);

}  // namespace lockstep::predict
