// How bench under mpirun passes its results to the bench process that started it: in a file, which
// rank 0 writes.
#pragma once

#include "cli/bench/measure.h"

#include <string>
#include <vector>

namespace lockstep::internal::cli {

/// The arguments with which this program measures the plan as a worker and writes `file`.
std::vector<std::string> bench_arguments(const BenchPlan& plan, const std::string& transport,
                                         const std::string& file);

void write_results(const std::string& file, const std::vector<BenchResult>& results);
/// Writes a usage error instead of results.
void write_refusal(const std::string& file, const std::string& why);

/// Throws UsageError for a stored usage error, and FileError if the file has no results.
std::vector<BenchResult> read_results(const std::string& file);

}  // namespace lockstep::internal::cli
