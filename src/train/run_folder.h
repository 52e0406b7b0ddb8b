// RunFolder: the files that record a run. Written by rank 0 only.
//
//   config.json     what was asked for, by which command, and on which machine
//   metrics.jsonl   every iteration and epoch of every rank, and the test, a line each
//   trace.json      when its first iterations did what, for Perfetto or Chrome
//   summary.json    what came out; there only if the run ended well
#pragma once

#include "base/folder_lock.h"
#include "models/safetensors.h"
#include "train/config.h"
#include "train/recorder.h"
#include "train/summary.h"

#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

namespace lockstep::train {

/// Keeps other runs out of the folder while it lives. Throws FileError if one is in it. Where there
/// is no such folder there is nobody to keep out.
FolderLock lock_run_folder(const std::filesystem::path& folder);

class RunFolder {
 public:
  /// How far a run that is resumed was.
  struct Done {
    std::size_t iterations = 0;
    std::size_t epochs = 0;  ///< whole ones
    /// Iterations from this one on are to be recorded again, and what followed the last; 0 for
    /// none.
    std::size_t again = 0;
  };

  /// What the options come to, for who reads of the run.
  struct Plan {
    std::size_t iterations = 0;
    std::size_t parameters = 0;      ///< tensors whose gradients are kept equal
    std::size_t gradient_bytes = 0;  ///< of all of them
    models::Metadata arithmetic{};   ///< see arithmetic.h
  };

  /// Makes the folder and starts its files anew, but for the metrics of what is done. Throws
  /// FileError if it cannot be written.
  RunFolder(std::filesystem::path folder, const TrainConfig& config, const Done& done,
            const Plan& plan);

  /// What each rank measured in these iterations before the run was resumed; see metrics_file.h.
  std::vector<std::vector<Record>> read_iterations(std::size_t first, std::size_t last,
                                                   std::size_t batch, std::size_t last_batch) const;

  void add_iterations(int rank, std::span<const Record> records);
  /// One line for a rank's epoch, from its iterations' records.
  void add_epoch(int rank, std::span<const Record> records);
  /// The test, over all ranks: its scores, and the epoch and iteration it came after.
  void add_test(const Record& test);

  void write_trace(const std::string& trace);

  /// Lines so far reach the file. Throws FileError if any could not be written since the last call;
  /// those are lost, others may follow.
  void flush();

  /// Throws FileError if any line could not be written.
  void finish(const Summary& summary);

 private:
  void add_line(const nlohmann::json& line);

  const std::filesystem::path folder_;
  std::ofstream metrics_;
};

/// The summary of the run in `folder`. Throws FileError if there is none: the run did not end well.
Summary read_summary(const std::filesystem::path& folder);

}  // namespace lockstep::train
