// Writing and reading metrics.jsonl: the measurements of every rank, one line per iteration, epoch
// and test. Readers do not trust the file: it may be truncated or edited.
#pragma once

#include "run/epochs.h"
#include "run/metrics_line.h"
#include "run/record.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::run {

/// The content of a line. `kind` is "iteration", "epoch" or "test".
nlohmann::json metrics_line(std::string_view kind, int rank, const Record& record);

/// Calls `take` with each line of the file, in order. An incomplete last line, as a killed run
/// leaves it, is skipped. Throws FileError with the number of any other malformed line.
void for_each_metric(const std::filesystem::path& file,
                     const std::function<void(const MetricsLine&)>& take);

/// The lines of the first `done` iterations and of the first `epochs` epochs; empty if there is no
/// such file. Malformed lines are dropped. With `again` > 0, iterations from `again` on and a test
/// after iteration `done` are dropped too, because the run will record them again.
std::string lines_until(const std::filesystem::path& file, std::size_t done, std::size_t epochs,
                        std::size_t again = 0);

/// The records of iterations `first` to `last`, indexed by rank; there may be more ranks than the
/// resumed run has. `bytes` and `operations` are 0, because the file does not have them. Empty
/// unless the file covers every image of these iterations exactly once: `batch` in each iteration,
/// `last_batch` in the last.
std::vector<std::vector<Record>> read_iterations(const std::filesystem::path& file,
                                                 std::size_t first, std::size_t last,
                                                 std::size_t batch, std::size_t last_batch);

/// The record that a line of an iteration or epoch was written from, without bytes and operations.
Record record_of(const MetricsLine& line);

/// The epochs that the file has a line of. Malformed lines are skipped.
Epochs read_epochs(const std::filesystem::path& file);

/// The loss of every iteration, averaged over the images of all ranks; NaN where lines are missing.
std::vector<double> losses_by_iteration(const std::filesystem::path& file);

}  // namespace lockstep::internal::run
