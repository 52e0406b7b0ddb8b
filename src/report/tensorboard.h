// A run's metrics as event files for TensorBoard.
#pragma once

#include <filesystem>

namespace lockstep::report {

/// Where they are, below a run's folder.
constexpr const char* kTensorboardFolder = "tensorboard";

/// Writes `tensorboard/rank-N/events.out.tfevents.…` for every rank and `tensorboard/test/…`, from
/// the run's metrics.jsonl; those of an earlier run go. Returns their folder. A step's moment is
/// the run's begin and the time of its iterations so far. Throws FileError.
std::filesystem::path write_tensorboard(const std::filesystem::path& run);

/// Removes what an earlier run in the folder has left for TensorBoard, and nothing else.
void remove_tensorboard(const std::filesystem::path& run);

}  // namespace lockstep::report
