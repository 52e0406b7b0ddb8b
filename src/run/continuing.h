// How a run that ended without results is continued.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep::internal::run {

/// "To continue after iteration 40, repeat the command with --resume --run-dir runs/a.", or that
/// there is no checkpoint. `worker_lost`: also the options that survive the loss of a worker, if
/// the run did not use them. A damaged folder is no error.
std::string how_to_continue(const std::filesystem::path& folder, bool worker_lost);

}  // namespace lockstep::internal::run
