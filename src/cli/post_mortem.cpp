#include "cli/post_mortem.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "cli/leave_report.h"
#include "cli/restarts.h"
#include "observe/post_mortem.h"
#include "report/report.h"
#include "report/run.h"

#include <fmt/format.h>

namespace lockstep::cli {

namespace {

/// A worker that has gone astray may have written anything there.
std::filesystem::path folder_of_workers(const launch::JobResult& result) {
  for (const comm::FlightLog& log : result.flights) {
    const std::filesystem::path folder = log.folder;
    if (folder.is_absolute() && report::is_run_folder(folder)) return folder;
  }
  return {};
}

/// Where it was written, or why it was not.
std::string write(const observe::PostMortem& found, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / report::kPostMortemFile;
  try {
    write_file(
        file,
        found.to_json().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } catch (const FileError& error) {
    return fmt::format("there is no post-mortem: {}", error.what());
  }
  return fmt::format("{} has the last operations of every rank{}", file.string(),
                     found.elsewhere.empty() ? "" : " of this host");
}

}  // namespace

std::string leave_post_mortem(const launch::JobResult& result, const std::string& prefix,
                              const std::filesystem::path& folder) {
  if (!may_start_again(result)) return {};
  const auto found = observe::examine(result);
  if (!found) return {};
  std::vector<std::string> lines = found->verdict();
  if (std::filesystem::is_directory(folder)) lines.push_back(write(*found, folder));
  std::string text;
  for (const std::string& line : lines) text += fmt::format("{}{}\n", prefix, line);
  return text;
}

std::string leave_post_mortem_of_program(const launch::JobResult& result, const std::string& prefix,
                                         const std::filesystem::path& otherwise) {
  const std::filesystem::path folder = folder_of_workers(result);
  std::string text = leave_post_mortem(result, prefix, folder.empty() ? otherwise : folder);
  if (!text.empty() && !folder.empty()) leave_report(folder, false);
  return text;
}

void remove_post_mortem(const std::filesystem::path& folder) {
  std::error_code only_a_leftover;
  std::filesystem::remove(folder / report::kPostMortemFile, only_a_leftover);
}

}  // namespace lockstep::cli
