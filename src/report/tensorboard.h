// A run's metrics as event files for TensorBoard.
#pragma once

#include <filesystem>

namespace lockstep::internal::report {

/// The folder of the event files, relative to the run folder.
constexpr const char* kTensorboardFolder = "tensorboard";

/// Writes `tensorboard/rank-N/events.out.tfevents.…` for every rank and `tensorboard/test/…`, from
/// the run's metrics.jsonl. Replaces the files of an earlier run. The time of a step is the start
/// of the run plus the time of its iterations so far. Returns the folder. Throws FileError.
std::filesystem::path write_tensorboard(const std::filesystem::path& run);

/// Removes the event files of an earlier run in the folder, and no other files.
void remove_tensorboard(const std::filesystem::path& run);

}  // namespace lockstep::internal::report
