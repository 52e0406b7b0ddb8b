// The lines of a run folder's metrics.jsonl, written and read back. What is read may have been cut
// off or changed by anyone: nothing in it is trusted.
#pragma once

#include "train/recorder.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::train {

/// A line's content. `kind` is "iteration", "epoch" or "test".
nlohmann::json metrics_line(std::string_view kind, int rank, const Record& record);

/// The lines of the first `done` iterations, and of the `epochs` that ended within them; none if
/// there is no such file. A last line that was only begun when the run ended goes, too. With
/// `again` those of iterations from that one on go, and a test after the last: they are to be
/// written again.
std::string lines_until(const std::filesystem::path& file, std::size_t done, std::size_t epochs,
                        std::size_t again = 0);

/// What each rank measured in the iterations from `first` to `last`, but for its bytes, which are
/// not in the file. By rank; there may be more than the run has now. Nothing at all unless the file
/// has every image of these iterations, `batch` in each and `last_batch` in the last, exactly once.
std::vector<std::vector<Record>> read_iterations(const std::filesystem::path& file,
                                                 std::size_t first, std::size_t last,
                                                 std::size_t batch, std::size_t last_batch);

/// The mean loss of every iteration over its images, those of all ranks; NaN where a line is
/// missing.
std::vector<double> losses_by_iteration(const std::filesystem::path& file);

}  // namespace lockstep::train
