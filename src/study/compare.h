// compare: trains the same job with every sync method, and once with one worker as the reference.
#pragma once

#include "base/table/text_table.h"
#include "run/summary.h"
#include "train/config/config.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lockstep::internal::study {

struct ComparedRun {
  std::string name;   ///< the method, or "alone" for one worker; also the name of the folder
  bool exact = true;  ///< whether the method makes the updates of one worker, apart from rounding
  run::Summary summary;
  /// Distance of the final weights from those of one worker, relative to their norm.
  double weights_difference = 0;
  /// Relative distance of the final weights from those of the first method. The methods differ only
  /// in their summation order.
  double methods_difference = 0;
  /// The largest difference of an iteration's loss from that of one worker.
  double loss_difference = 0;
};

/// Relative distances below this count as equal: another summation order in float32 changes less.
constexpr double kSameWeights = 1e-6;

struct Comparison {
  std::vector<ComparedRun> runs;  ///< the first is the run with one worker
  bool sync_bn = false;           ///< whether batch norm uses the statistics of all workers
  int shards = 0;                 ///< value of --shards; 0 for none

  const ComparedRun& alone() const { return runs.front(); }
  bool all_agree() const;  ///< whether all exact methods end with the weights of one worker
  /// The fastest and the slowest method; nullptr if there is none.
  const ComparedRun* fastest() const;
  const ComparedRun* slowest() const;
  double speedup(const ComparedRun& run) const;  ///< per iteration, relative to one worker
};

/// Runs one job and returns its summary.
using RunJob = std::function<run::Summary(const train::TrainConfig&)>;

/// The job with this method: a value of --sync, or "ddp+float16" for ddp with --compress float16.
train::TrainConfig with_method(const train::TrainConfig& job, const std::string& method);

/// Trains with one worker, then with each method and the workers of `job`. Every run has its own
/// folder below that of `job`. Throws whatever `run` throws.
Comparison compare(const train::TrainConfig& job, const std::vector<std::string>& methods,
                   const RunJob& run);

/// |a − b| / |a| over all floating-point tensors of two safetensors files. Throws FileError, or
/// Error if the files do not hold the same tensors.
double relative_difference(const std::filesystem::path& a, const std::filesystem::path& b);

/// One row per run: speed, parts of the time, loss and accuracy.
TextTable table_of(const Comparison& comparison);

/// The findings, derived from the measurements: whether the results agree, which method is fastest
/// and why.
std::vector<std::string> sentences_of(const Comparison& comparison);

/// `{"kind": "compare", "runs": […], "tables": […], "notes": […], "verdict": …}`.
nlohmann::json to_json(const Comparison& comparison);

}  // namespace lockstep::internal::study
