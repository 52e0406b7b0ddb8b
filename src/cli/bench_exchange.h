// How bench under mpirun hands its results to the bench that started it: in a file, which rank 0
// writes.
#pragma once

#include "cli/bench_measure.h"

#include <string>
#include <vector>

namespace lockstep::cli {

/// The arguments with which this program measures the plan as a worker and writes `file`.
std::vector<std::string> bench_arguments(const BenchPlan& plan, const std::string& transport,
                                         const std::string& file);

void write_results(const std::string& file, const std::vector<BenchResult>& results);
/// Instead of results: what the user has to mend.
void write_refusal(const std::string& file, const std::string& why);

/// Throws what was refused as a UsageError, and FileError if the file has no results.
std::vector<BenchResult> read_results(const std::string& file);

}  // namespace lockstep::cli
