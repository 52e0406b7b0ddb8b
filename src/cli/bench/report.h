// The outputs of `lockstep bench`: a table for people, JSON for programs, and the table that `auto`
// picks from.
#pragma once

#include "cli/bench/start.h"
#include "comm/auto_table.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::internal::cli {

std::string text_of(const BenchPlan& plan, const std::vector<BenchRun>& runs, bool bold);
nlohmann::json json_of(const BenchPlan& plan, const std::vector<BenchRun>& runs);

/// The fastest algorithm for each transport, number of workers and size. A measurement also covers
/// smaller worlds and arrays, down to the next measured one; the largest of each covers all above
/// it.
comm::AutoTable fastest(const std::vector<BenchRun>& runs);

}  // namespace lockstep::internal::cli
