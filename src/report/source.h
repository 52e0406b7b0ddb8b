// Source: the input of a report: one run, a study, or several runs side by side.
#pragma once

#include "base/table/text_table.h"
#include "report/run.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::report {

struct Source {
  std::string kind;  ///< "train", "compare", "mistakes", "scale" or "side-by-side"
  std::vector<Run> runs;
  std::optional<run::Fields> study;  ///< a study's summary.json
  std::vector<TextTable> tables;     ///< of the study
  std::vector<std::string> notes;
};

/// Reads one or several folders. A folder without files of a run or study, but with run folders in
/// it (such as that of a killed study), is read as its runs side by side. Throws FileError for
/// other folders and for malformed files.
Source read_source(const std::vector<std::filesystem::path>& folders,
                   const MetricsReader& metrics = read_metrics);

}  // namespace lockstep::internal::report
