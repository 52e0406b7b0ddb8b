// Curve: two measured values over iterations or epochs, and its thinning to fewer points.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <vector>

namespace lockstep::internal::report {

struct Curve {
  std::vector<double> at;      ///< iteration or epoch of each point, ascending
  std::vector<double> first;   ///< NaN where there is no value
  std::vector<double> second;  ///< NaN where there is no value

  std::size_t size() const { return at.size(); }
  void add(double where, double one, double other);
  /// Sorts the points by `at`.
  void sort();
};

/// The curve with at most `most` points. Each point replaces equally many neighbours (the last may
/// replace fewer): it has the position of the middle one and their mean values. Equal curves stay
/// equal, and rare slow iterations remain visible. REQUIRES: most > 0.
Curve thinned(const Curve& curve, std::size_t most);

/// How many points are replaced by one when a curve of `points` points is thinned to `most`.
std::size_t points_in_one(std::size_t points, std::size_t most);

/// The values with five significant digits, more than a chart can show; null for NaN and infinity.
nlohmann::json to_json(const std::vector<double>& values);

}  // namespace lockstep::internal::report
