// Writing the report of run folders: one HTML page that opens from disk without a network.
#pragma once

#include <filesystem>
#include <vector>

namespace lockstep::internal::report {

/// Name of the report in the folder of a run or study.
constexpr const char* kReportFile = "report.html";

/// Whether the folder holds a run, a study, or folders of runs.
bool has_runs(const std::filesystem::path& folder);

/// Writes the page of one run or study into its folder, from the files there, and returns its path.
/// Throws FileError for files that are malformed or cannot be written.
std::filesystem::path write_report(const std::filesystem::path& folder);

/// Writes the page of one folder, or of several side by side, to a file.
void write_report(const std::vector<std::filesystem::path>& folders,
                  const std::filesystem::path& file);

}  // namespace lockstep::internal::report
