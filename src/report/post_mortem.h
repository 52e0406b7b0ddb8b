// The post-mortem of a failed run, from postmortem.json in its folder: the verdict, a table with a
// row per rank, and a timeline of the last second.
#pragma once

#include "base/table/text_table.h"
#include "report/timeline.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace lockstep::internal::report {

/// {"verdict", "table", "timeline"}. The timeline is that of timeline.h without an iteration, with
/// one lane per rank and times in microseconds relative to the failure. A lane has the "end" of its
/// rank if it is in the shown interval. Throws FileError.
Timeline read_post_mortem(const std::filesystem::path& file, const TimelineLimits& limits);

/// The table alone. Throws FileError.
TextTable post_mortem_table(const std::filesystem::path& file);

}  // namespace lockstep::internal::report
