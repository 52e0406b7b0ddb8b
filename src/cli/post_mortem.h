// The post-mortem of a failed job: printed lines, and postmortem.json in the run folder.
#pragma once

#include "launch/process/outcome.h"

#include <filesystem>
#include <string>

namespace lockstep::internal::cli {

/// Returns lines for standard error, each starting with `prefix`: which ranks died or stalled,
/// where, and which ranks waited for them. Empty for a job that succeeded or was asked to stop, and
/// for one whose workers never connected. Also writes postmortem.json to `folder` if that exists.
std::string leave_post_mortem(const launch::JobResult& result, const std::string& prefix,
                              const std::filesystem::path& folder);

/// The same for an arbitrary program. Writes to the run folder that its workers have registered and
/// updates the report there; without one, writes to `otherwise`.
std::string leave_post_mortem_of_program(const launch::JobResult& result, const std::string& prefix,
                                         const std::filesystem::path& otherwise);

/// Renames postmortem.json to postmortem-1.json, postmortem-2.json … by the number of the restart:
/// it describes an earlier attempt of a restarted run.
void keep_post_mortem(const std::filesystem::path& folder, int restart);

/// Removes the post-mortems of an earlier run in the folder.
void remove_post_mortem(const std::filesystem::path& folder);

}  // namespace lockstep::internal::cli
