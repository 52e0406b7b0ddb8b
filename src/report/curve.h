// Curve: two values that were measured again and again, and how they are made fewer.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <vector>

namespace lockstep::report {

struct Curve {
  std::vector<double> at;      ///< where: iterations or epochs, in order
  std::vector<double> first;   ///< NaN where there was no number
  std::vector<double> second;  ///< likewise

  std::size_t size() const { return at.size(); }
  void add(double where, double one, double other);
  /// Brings the points in order, should they not be.
  void sort();
};

/// The curve in at most `most` points. Each stands for equally many neighbours (the last perhaps
/// for fewer): it lies at their middle one and has their means, so that equal curves stay equal and
/// rare slow iterations still show. REQUIRES: most > 0.
Curve thinned(const Curve& curve, std::size_t most);

/// How many points each stands for.
std::size_t points_in_one(std::size_t points, std::size_t most);

/// With five digits, which is more than can be seen; null for what is no number.
nlohmann::json to_json(const std::vector<double>& values);

}  // namespace lockstep::report
