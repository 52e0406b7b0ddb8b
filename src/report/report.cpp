#include "report/report.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "report/html.h"
#include "report/page.h"

namespace lockstep::report {

bool has_runs(const std::filesystem::path& folder) {
  std::error_code error;
  if (is_run_folder(folder) || std::filesystem::exists(folder / "summary.json", error)) return true;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (is_run_folder(entry.path())) return true;
  return false;
}

void write_report(const std::vector<std::filesystem::path>& folders,
                  const std::filesystem::path& file) {
  write_file(file, html_of(page_json(read_source(folders))));
}

std::filesystem::path write_report(const std::filesystem::path& folder) {
  write_report(std::vector{folder}, folder / kReportFile);
  return folder / kReportFile;
}

}  // namespace lockstep::report
