#include "cli/bench/report.h"

#include "base/table/text_table.h"
#include "cli/bench/ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lockstep::internal::cli {

namespace {

/// The fastest algorithm of one run, by size.
std::map<std::uint64_t, Algorithm> fastest_by_size(const BenchRun& run) {
  std::map<std::uint64_t, BenchResult> best;
  for (const BenchResult& result : run.results) {
    const auto [place, is_first] = best.emplace(result.bytes, result);
    if (!is_first && result.seconds < place->second.seconds) place->second = result;
  }
  std::map<std::uint64_t, Algorithm> algorithms;
  for (const auto& [bytes, result] : best) algorithms[bytes] = result.algorithm;
  return algorithms;
}

/// Adds the entries of one run; consecutive sizes with the same algorithm form one entry.
void add_entries(comm::AutoTable& table, const BenchRun& run, int up_to_ranks) {
  const auto by_size = fastest_by_size(run);
  for (auto size = by_size.begin(); size != by_size.end(); ++size) {
    const auto next = std::next(size);
    const bool last = next == by_size.end();
    if (!last && next->second == size->second) continue;
    table.entries.push_back(
        {run.transport, up_to_ranks, last ? comm::kAnyBytes : size->first, size->second});
  }
}

}  // namespace

std::string text_of(const BenchPlan& plan, const std::vector<BenchRun>& runs, bool bold) {
  TextTable table{.columns = {"op", "transport", "algorithm", "workers", "bytes", "count", "type",
                              "redop", "time us", "algbw GB/s", "busbw GB/s", "#wrong"}};
  const char* reduction = bench_op(plan.op).reduces ? "sum" : "none";
  for (const BenchRun& run : runs)
    for (const BenchResult& result : run.results)
      table.rows.push_back({plan.op, run.transport, std::string(name_of(result.algorithm)),
                            std::to_string(run.workers), std::to_string(result.bytes),
                            std::to_string(result.bytes / size_of(plan.type)),
                            std::string(name_of(plan.type)), reduction,
                            fmt::format("{:.1f}", 1e6 * result.seconds),
                            fmt::format("{:.2f}", result.algbw_gbs()),
                            fmt::format("{:.2f}", result.busbw_gbs(plan.op, run.workers)),
                            std::to_string(result.wrong)});
  return to_text(table, bold);
}

nlohmann::json json_of(const BenchPlan& plan, const std::vector<BenchRun>& runs) {
  nlohmann::json rows = nlohmann::json::array();
  for (const BenchRun& run : runs)
    for (const BenchResult& result : run.results)
      rows.push_back({{"op", plan.op},
                      {"transport", run.transport},
                      {"algorithm", name_of(result.algorithm)},
                      {"workers", run.workers},
                      {"type", name_of(plan.type)},
                      {"bytes", result.bytes},
                      {"seconds", result.seconds},
                      {"algbw_gbs", result.algbw_gbs()},
                      {"busbw_gbs", result.busbw_gbs(plan.op, run.workers)},
                      {"wrong", result.wrong}});
  return {{"results", rows}};
}

comm::AutoTable fastest(const std::vector<BenchRun>& runs) {
  // By transport in order of appearance, then by number of workers.
  std::vector<std::string> transports;
  std::map<std::string, std::map<int, const BenchRun*>> sorted;
  for (const BenchRun& run : runs) {
    if (!sorted.contains(run.transport)) transports.push_back(run.transport);
    sorted[run.transport][run.workers] = &run;
  }
  comm::AutoTable table;
  for (const std::string& transport : transports)
    for (const auto& [workers, run] : sorted[transport]) {
      const bool largest = workers == sorted[transport].rbegin()->first;
      add_entries(table, *run, largest ? comm::kAnyRanks : workers);
    }
  return table;
}

}  // namespace lockstep::internal::cli
