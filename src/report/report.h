// Writing the report of run folders: one HTML page that opens from disk without a network, or its
// tables as files for other programs.
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

/// Writes every table of that page to a CSV file in the folder `to`, which it makes, and returns
/// the files. A file has the name of its table: "Sync methods" is in sync-methods.csv.
std::vector<std::filesystem::path> write_csv(const std::vector<std::filesystem::path>& folders,
                                             const std::filesystem::path& to);

/// Writes every table of that page to one Markdown file.
void write_markdown(const std::vector<std::filesystem::path>& folders,
                    const std::filesystem::path& file);

/// Writes every chart of that page to a PNG file in the folder `to`, which it makes, and returns
/// the files. Throws UsageError if no browser is installed.
std::vector<std::filesystem::path> write_png(const std::vector<std::filesystem::path>& folders,
                                             const std::filesystem::path& to);

/// Prints that page to a PDF file. Throws UsageError if no browser is installed.
void write_pdf(const std::vector<std::filesystem::path>& folders,
               const std::filesystem::path& file);

}  // namespace lockstep::internal::report
