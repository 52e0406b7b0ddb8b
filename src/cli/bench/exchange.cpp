#include "cli/bench/exchange.h"

#include <lockstep/error.h>

#include "base/files.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lockstep::internal::cli {

std::vector<std::string> bench_arguments(const BenchPlan& plan, const std::string& transport,
                                         const std::string& file) {
  std::vector<std::string> arguments{"bench",
                                     "--op",
                                     plan.op,
                                     "--type",
                                     std::string(name_of(plan.type)),
                                     "--transport",
                                     transport,
                                     "--repeat",
                                     std::to_string(plan.repeat),
                                     "--results",
                                     file};
  std::vector<std::string> algorithms;
  if (plan.all_algorithms) algorithms.emplace_back("all");
  for (Algorithm algorithm : plan.algorithms) algorithms.emplace_back(name_of(algorithm));
  if (!algorithms.empty())
    arguments.insert(arguments.end(),
                     {"--algorithm", fmt::format("{}", fmt::join(algorithms, ","))});
  if (plan.sizes != std::vector<std::size_t>{0})  // a barrier has no sizes
    arguments.insert(arguments.end(), {"--sizes", fmt::format("{}", fmt::join(plan.sizes, ","))});
  return arguments;
}

void write_results(const std::string& file, const std::vector<BenchResult>& results) {
  nlohmann::json json = nlohmann::json::array();
  for (const BenchResult& result : results)
    json.push_back({{"algorithm", name_of(result.algorithm)},
                    {"bytes", result.bytes},
                    {"seconds", result.seconds},
                    {"wrong", result.wrong}});
  write_file(file, nlohmann::json{{"results", json}}.dump());
}

void write_refusal(const std::string& file, const std::string& why) {
  write_file(file, nlohmann::json{{"refused", why}}.dump());
}

std::vector<BenchResult> read_results(const std::string& file) {
  const std::string text = read_file(file);
  if (text.empty()) throw FileError("the workers wrote no results");
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.contains("refused")) throw UsageError(json["refused"].get<std::string>());
    std::vector<BenchResult> results;
    for (const auto& row : json.at("results"))
      results.push_back({parse_algorithm(row.at("algorithm").get<std::string>()),
                         row.at("bytes").get<std::uint64_t>(), row.at("seconds").get<double>(),
                         row.at("wrong").get<std::uint64_t>()});
    return results;
  } catch (const nlohmann::json::exception& error) {
    throw FileError(fmt::format("the workers' results cannot be read: {}", error.what()));
  }
}

}  // namespace lockstep::internal::cli
