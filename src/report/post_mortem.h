// How a run that failed came to its end, out of its folder's postmortem.json: the verdict, a row
// for every rank, and a timeline of the last second.
#pragma once

#include "report/timeline.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace lockstep::report {

/// {"verdict", "table", "timeline"}; the timeline is that of timeline.h without an iteration, with
/// one lane a rank, in microseconds from the moment at which it happened. A lane has its rank's
/// "end", if that is shown. Throws FileError.
Timeline read_post_mortem(const std::filesystem::path& file, const TimelineLimits& limits);

}  // namespace lockstep::report
