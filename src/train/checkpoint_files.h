// The files of a run folder's checkpoints/, by their names: which there are, and which go.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace lockstep::train {

/// Where the checkpoint after so many iterations is.
std::filesystem::path checkpoint_file(const std::filesystem::path& run_dir, std::size_t iteration);

/// Newest first; none if there is no such folder. Throws FileError if it cannot be looked into.
std::vector<std::filesystem::path> checkpoints_of(const std::filesystem::path& run_dir);

/// The same, but throws FileError if there is none.
std::vector<std::filesystem::path> require_checkpoints(const std::filesystem::path& run_dir);

/// Removes those that are older than the newest `kept` up to this one. Newer ones stay: if they are
/// not this process's own, it was stopped for long, and the run went on without it. Failure costs
/// only room.
void remove_older(const std::filesystem::path& newest, std::size_t kept);

/// Removes what earlier starts of the run have left: writes that were cut off, and those after
/// `iteration`, from which the run goes on: it is another one since. REQUIRES: the folder's lock,
/// without which the write may be under way, and the checkpoint another's. Failure costs only room.
void remove_left_over(const std::filesystem::path& run_dir, std::size_t iteration);

}  // namespace lockstep::train
