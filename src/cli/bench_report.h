// What `lockstep bench` shows of its results: a table for people, JSON for programs, and the table
// that `auto` picks from.
#pragma once

#include "cli/bench_start.h"
#include "comm/auto_table.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::cli {

std::string text_of(const BenchPlan& plan, const std::vector<BenchRun>& runs, bool bold);
nlohmann::json json_of(const BenchPlan& plan, const std::vector<BenchRun>& runs);

/// The fastest algorithm for each transport, number of workers and size. What was measured holds
/// for smaller worlds and arrays down to the next that was measured; the largest of each for all
/// above it.
comm::AutoTable fastest(const std::vector<BenchRun>& runs);

}  // namespace lockstep::cli
