// The files in a run folder's checkpoints/: their names, and which of them are removed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

namespace lockstep::internal::run {

/// The path of the checkpoint after so many iterations.
std::filesystem::path checkpoint_file(const std::filesystem::path& run_dir, std::size_t iteration);

/// The iteration in a checkpoint's name; none for other files.
std::optional<std::size_t> iteration_of(const std::filesystem::path& file);

/// Newest first; empty if there is no such folder. Throws FileError if it cannot be read.
std::vector<std::filesystem::path> checkpoints_of(const std::filesystem::path& run_dir);

/// The same, but throws FileError if there is none.
std::vector<std::filesystem::path> require_checkpoints(const std::filesystem::path& run_dir);

/// Of the files up to `newest`, keeps the newest `kept` and removes the rest. Newer files are not
/// touched: they belong to a run that continued while this process was stopped. Failures are
/// ignored, because they only cost disk space.
void remove_older(const std::filesystem::path& newest, std::size_t kept);

/// Removes what earlier starts of the run left behind: unfinished writes, and checkpoints after
/// `iteration`, where this start resumes. Failures are ignored, because they only cost disk space.
/// REQUIRES: the folder's lock; without it another process may be writing these files.
void remove_left_over(const std::filesystem::path& run_dir, std::size_t iteration);

}  // namespace lockstep::internal::run
