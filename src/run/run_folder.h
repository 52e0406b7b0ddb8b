// RunFolder: writes the files that record a run. Only rank 0 has one.
//
//   config.json     the options, the command and the machine
//   metrics.jsonl   one line per iteration and epoch of every rank, and per test
//   trace.json      the events of the first iterations, for Perfetto or Chrome
//   summary.json    the results; missing if the run failed
//   postmortem.json why the run failed
#pragma once

#include "base/folder_lock.h"
#include "base/unique_fd.h"
#include "run/epochs.h"
#include "run/record.h"
#include "run/summary.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lockstep::internal::run {

/// Locks the folder against other runs while the result lives. Throws FileError if another run
/// holds the lock. A folder that does not exist is not locked.
FolderLock lock_run_folder(const std::filesystem::path& folder);

class RunFolder {
 public:
  /// The progress of a resumed run at its checkpoint.
  struct Done {
    std::size_t iterations = 0;
    std::size_t epochs = 0;  ///< completed epochs
    /// Iterations from this one on, and a test after the last, are recorded again; 0 for none.
    std::size_t again = 0;
  };

  /// Creates the folder and its files. Only the metrics of `done` iterations are kept from an
  /// earlier run. `config` becomes config.json. Throws FileError if a file cannot be written.
  RunFolder(std::filesystem::path folder, const nlohmann::json& config, const Done& done);

  /// The records of these iterations from before the run was resumed; see metrics_file.h.
  std::vector<std::vector<Record>> read_iterations(std::size_t first, std::size_t last,
                                                   std::size_t batch, std::size_t last_batch) const;

  /// The epochs from before the run was resumed.
  Epochs read_epochs() const;

  void add_iterations(int rank, std::span<const Record> records);
  /// Adds one line for a rank's epoch, which sums the records of its iterations.
  void add_epoch(int rank, const Record& sum);
  /// Adds the scores of a test over all ranks, with the epoch and iteration before it.
  void add_test(const Record& test);

  void write_trace(const std::string& trace);

  /// Writes all lines so far to the file. Throws FileError if a line since the last call could not
  /// be written. Such lines are lost, but later ones can still be added.
  void flush();

  /// Writes summary.json. Throws FileError if it, or any line before, could not be written.
  void finish(const Summary& summary);

 private:
  /// Adds lines and writes them at once, so that a killed run leaves its metrics.
  void add(const std::string& lines);

  const std::filesystem::path folder_;
  UniqueFd metrics_;
  std::string lines_;  ///< not written yet
  bool lost_ = false;  ///< a line could not be written
};

/// Whether the folder holds a run, that is, a config.json.
bool is_run_folder(const std::filesystem::path& folder);

/// The summary of the run in `folder`. Throws FileError if there is none, as for a failed run.
Summary read_summary(const std::filesystem::path& folder);

}  // namespace lockstep::internal::run
