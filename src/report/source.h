// Source: what a report is made of: one run, a study of several, or several side by side.
#pragma once

#include "report/run.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::report {

struct Source {
  std::string kind;  ///< "train", "compare", "mistakes", "scale" or "side-by-side"
  std::vector<Run> runs;
  std::optional<Fields> study;  ///< a study's summary.json
  std::vector<std::string> notes;
};

/// Reads one folder, or several. A folder that has no files of a run or a study, but folders that
/// do, as that of a study that was killed, is its runs side by side. Throws FileError for what is
/// neither, and for files that cannot be used.
Source read_source(const std::vector<std::filesystem::path>& folders);

}  // namespace lockstep::report
