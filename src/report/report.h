// A run's folder as one HTML page: no network, opens from disk.
#pragma once

#include <filesystem>
#include <vector>

namespace lockstep::report {

/// What is beside the data of a folder's report.
constexpr const char* kReportFile = "report.html";
constexpr const char* kPostMortemFile = "postmortem.json";

/// Whether the folder holds a run, a study, or runs below it.
bool has_runs(const std::filesystem::path& folder);

/// Writes the page of one run or study into its folder, and returns where. All that it shows comes
/// from the files there. Throws FileError for files that cannot be used or written.
std::filesystem::path write_report(const std::filesystem::path& folder);

/// Writes the page of one folder, or of several side by side, to a file.
void write_report(const std::vector<std::filesystem::path>& folders,
                  const std::filesystem::path& file);

}  // namespace lockstep::report
