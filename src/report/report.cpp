#include "report/report.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "report/html.h"
#include "report/page.h"
#include "run/run_folder.h"
#include "run/study_file.h"

namespace lockstep::internal::report {

bool has_runs(const std::filesystem::path& folder) {
  std::error_code error;
  if (run::is_run_folder(folder) || run::is_study_folder(folder)) return true;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (run::is_run_folder(entry.path())) return true;
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

}  // namespace lockstep::internal::report
