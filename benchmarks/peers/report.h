// The results as a table and as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::internal::benchmarks {

struct Result {
  std::string name;
  std::string family;
  int workers = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;  ///< median over the rounds
  double ratio = 0;    ///< seconds divided by Lockstep's: above 1 is slower than Lockstep
  std::uint64_t wrong = 0;
};

/// The fastest result of each family for one size and world, with its ratio.
/// REQUIRES: the first result is Lockstep's.
std::vector<Result> best_of_families(std::vector<Result> results);

/// The header of the table, and the line of one result.
std::string header_line();
std::string line(const Result& result);

nlohmann::json to_json(const std::vector<Result>& results);

}  // namespace lockstep::internal::benchmarks
