// all_reduce: times the all-reduce of Lockstep and of other libraries between processes of this
// host. Contenders take turns in every round, so that other load on the machine affects all of
// them.
#include <lockstep/error.h>

#include "base/text.h"
#include "jobs.h"
#include "observe/statistics.h"
#include "report.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace lockstep::internal::benchmarks {

namespace {

struct Options {
  std::vector<int> workers{2, 4};
  std::vector<std::string> sizes{"4K", "64K", "1M", "16M", "36M"};
  std::vector<std::string> only;  ///< families; all if empty
  int rounds = 5;
  std::string json;
};

/// The contenders that were asked for and can run here. Prints why the others cannot.
std::vector<Entry> choose(const std::vector<std::string>& only) {
  std::vector<Entry> chosen;
  for (const Entry& entry : all_entries()) {
    const bool asked = only.empty() || std::ranges::find(only, entry.family) != only.end();
    // Lockstep is always measured, as the reference.
    if (!asked && !chosen.empty()) continue;
    try {
      entry.run({.workers = 2, .bytes = 4096, .seconds = 0});
      chosen.push_back(entry);
    } catch (const Error& error) {
      if (chosen.empty()) throw;
      fmt::print("left out: {} ({})\n", entry.name, error.what());
    }
  }
  return chosen;
}

std::vector<Result> measure(const std::vector<Entry>& entries, const JobPlan& plan, int rounds) {
  std::vector<Result> results;
  for (const Entry& entry : entries)
    results.push_back({entry.name, entry.family, plan.workers, plan.bytes});
  std::vector<std::vector<double>> seconds(entries.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const Round one = entries[i].run(plan);
      seconds[i].push_back(one.seconds);
      results[i].wrong += one.wrong;
    }
  for (std::size_t i = 0; i < entries.size(); ++i)
    results[i].seconds = observe::percentile(seconds[i], 0.5);
  return results;
}

std::size_t parse_size(const std::string& size) {
  const std::size_t bytes = parse_bytes(size);
  if (bytes < sizeof(float))
    throw UsageError(fmt::format("'{}' is less than one float32: use 4 or more", size));
  return bytes;
}

void run(const Options& options) {
  std::vector<Result> all;
  std::uint64_t wrong = 0;
  const std::vector<Entry> entries = choose(options.only);
  fmt::print("{}", header_line());
  std::fflush(stdout);
  for (int workers : options.workers)
    for (const std::string& size : options.sizes) {
      const JobPlan plan{.workers = workers, .bytes = parse_size(size)};
      const std::vector<Result> measured = measure(entries, plan, options.rounds);
      for (const Result& result : measured) wrong += result.wrong;
      for (const Result& result : best_of_families(measured)) {
        fmt::print("{}", line(result));
        all.push_back(result);
      }
      // Otherwise every forked rank would print the buffered text again.
      std::fflush(stdout);
    }
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    if (!(file << to_json(all).dump(2) << '\n' << std::flush))
      throw FileError(fmt::format("cannot write {}", options.json));
  }
  if (wrong > 0) throw Error(fmt::format("{} elements were wrong", wrong));
}

}  // namespace

}  // namespace lockstep::internal::benchmarks

int main(int argc, char** argv) {
  lockstep::internal::benchmarks::Options options;
  CLI::App app("times all-reduce (sum of float32) by Lockstep and by other libraries");
  app.add_option("--workers", options.workers, "world sizes")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(2, 64));
  app.add_option("--sizes", options.sizes, "bytes on each rank: 4096, 64K, 36M")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--only", options.only,
                 "families to measure beside Lockstep's shm: thread, lockstep gloo, gloo, c10d, "
                 "mpi, memcpy, "
                 "one pass")
      ->delimiter(',');
  app.add_option("--rounds", options.rounds, "rounds; the median counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--json", options.json, "write the results to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    lockstep::internal::benchmarks::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "all_reduce: {}\n", error.what());
    return 1;
  }
  return 0;
}
