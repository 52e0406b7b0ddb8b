// What was measured, as a table for people and as JSON for programs.
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
  double ratio = 0;    ///< of seconds to Lockstep's: above 1 is slower than Lockstep
  std::uint64_t wrong = 0;
};

/// The results of one size and world: sets each ratio, and keeps only the fastest of each family.
/// REQUIRES: the first result is Lockstep's.
std::vector<Result> best_of_families(std::vector<Result> results);

/// One line of the table, and its header.
std::string header_line();
std::string line(const Result& result);

nlohmann::json to_json(const std::vector<Result>& results);

}  // namespace lockstep::internal::benchmarks
