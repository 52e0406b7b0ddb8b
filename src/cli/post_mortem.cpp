#include "cli/post_mortem.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "cli/leave_report.h"
#include "cli/restarts.h"
#include "observe/post_mortem.h"
#include "report/report.h"
#include "run/post_mortem_file.h"
#include "run/run_folder.h"

#include <fmt/format.h>

namespace lockstep::internal::cli {

namespace {

/// The run folder that the workers have registered; empty if there is none. It is checked, because
/// a faulty worker may have overwritten the path.
std::filesystem::path folder_of_workers(const launch::JobResult& result) {
  for (const comm::FlightLog& log : result.flights) {
    const std::filesystem::path folder = log.folder;
    if (folder.is_absolute() && run::is_run_folder(folder)) return folder;
  }
  return {};
}

std::string kept_name(int restart) {
  return fmt::format("postmortem-{}.json", restart);
}

/// Writes the file. Returns a line with its path, or with the error.
std::string write(const observe::PostMortem& found, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / run::kPostMortemFile;
  try {
    write_file(
        file,
        run::to_json(found).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } catch (const FileError& error) {
    return fmt::format("could not write the post-mortem: {}", error.what());
  }
  return fmt::format("{} has the last operations of every rank{}", file.string(),
                     found.elsewhere.empty() ? "" : " of this host");
}

std::string examine_and_leave(const launch::JobResult& result, const std::string& prefix,
                              const std::filesystem::path& folder) {
  const auto found = observe::examine(result);
  if (!found) return {};
  std::vector<std::string> lines = found->verdict();
  if (std::filesystem::is_directory(folder)) lines.push_back(write(*found, folder));
  std::string text;
  for (const std::string& line : lines) text += fmt::format("{}{}\n", prefix, line);
  return text;
}

}  // namespace

std::string leave_post_mortem(const launch::JobResult& result, const std::string& prefix,
                              const std::filesystem::path& folder) {
  return may_start_again(result) ? examine_and_leave(result, prefix, folder) : "";
}

std::string leave_post_mortem_of_program(const launch::JobResult& result, const std::string& prefix,
                                         const std::filesystem::path& otherwise) {
  // The meaning of other exit codes is up to the program.
  if (result.code() == 0 || result.interrupted_by != 0) return {};
  const std::filesystem::path folder = folder_of_workers(result);
  std::string text = examine_and_leave(result, prefix, folder.empty() ? otherwise : folder);
  if (!text.empty() && !folder.empty()) leave_report(folder, false);
  return text;
}

void keep_post_mortem(const std::filesystem::path& folder, int restart) {
  std::error_code there_is_none;
  std::filesystem::rename(folder / run::kPostMortemFile, folder / kept_name(restart),
                          there_is_none);
}

void remove_post_mortem(const std::filesystem::path& folder) {
  std::error_code only_a_leftover;
  std::filesystem::remove(folder / run::kPostMortemFile, only_a_leftover);
  for (int restart = 1; std::filesystem::remove(folder / kept_name(restart), only_a_leftover);)
    ++restart;
}

}  // namespace lockstep::internal::cli
