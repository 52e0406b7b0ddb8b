#include "report.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::benchmarks {

std::vector<Result> best_of_families(std::vector<Result> results) {
  std::vector<Result> best;
  const double reference = results.front().seconds;
  for (Result& result : results) {
    result.ratio = result.seconds / reference;
    const auto rival = std::ranges::find(best, result.family, &Result::family);
    if (rival == best.end())
      best.push_back(result);
    else if (result.seconds < rival->seconds)
      *rival = result;
  }
  return best;
}

std::string header_line() {
  return fmt::format("{:>7} {:>6} {:<22} {:>10} {:>9} {:>6}\n", "workers", "bytes", "contender",
                     "time us", "/lockstep", "#wrong");
}

std::string line(const Result& result) {
  return fmt::format("{:>7} {:>6} {:<22} {:>10.1f} {:>9.2f} {:>6}\n", result.workers,
                     format_bytes(result.bytes), result.name, 1e6 * result.seconds, result.ratio,
                     result.wrong);
}

nlohmann::json to_json(const std::vector<Result>& results) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Result& result : results)
    rows.push_back({{"contender", result.name},
                    {"workers", result.workers},
                    {"bytes", result.bytes},
                    {"seconds", result.seconds},
                    {"ratio", result.ratio},
                    {"wrong", result.wrong}});
  return {{"results", rows}};
}

}  // namespace lockstep::internal::benchmarks
