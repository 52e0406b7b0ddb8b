// What is left of a job that failed: the verdict on it, for its user and in the run's folder.
#pragma once

#include "launch/outcome.h"

#include <filesystem>
#include <string>

namespace lockstep::cli {

/// Who died or stalled, where, and who waited for whom: lines for standard error, each with
/// `prefix`. Nothing for a job that ended well or was asked to end, or whose workers were never
/// together. Leaves all of it as postmortem.json in `folder`, if there is such a folder.
std::string leave_post_mortem(const launch::JobResult& result, const std::string& prefix,
                              const std::filesystem::path& folder);

/// The same for a program that we know nothing of: in the run's folder that its workers have named,
/// whose report is made anew; else in `otherwise`.
std::string leave_post_mortem_of_program(const launch::JobResult& result, const std::string& prefix,
                                         const std::filesystem::path& otherwise);

/// A run starts again for the how-manieth time: what it has left so far is that attempt's, and no
/// longer how the run ended. It stays as postmortem-1.json, postmortem-2.json …
void keep_post_mortem(const std::filesystem::path& folder, int restart);

/// A run begins anew: what an earlier one has left would only mislead.
void remove_post_mortem(const std::filesystem::path& folder);

}  // namespace lockstep::cli
