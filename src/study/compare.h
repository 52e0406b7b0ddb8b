// compare: the same job with every sync method, and once with one worker alone.
#pragma once

#include "study/text_table.h"
#include "train/config.h"
#include "train/summary.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lockstep::study {

struct ComparedRun {
  std::string name;   ///< the method, or "alone"; also the folder's
  bool exact = true;  ///< it makes the updates of one worker, but for rounding
  train::Summary summary;
  /// Distance of the final weights from those of the first run, relative to their norm.
  double weights_difference = 0;
  /// The same from the first method's: what differs there is the order of addition alone.
  double methods_difference = 0;
  /// The largest distance of an iteration's loss from the first run's.
  double loss_difference = 0;
};

/// Below this two trainings count as equal: float32 sums in another order differ by less.
constexpr double kSameWeights = 1e-6;

struct Comparison {
  std::vector<ComparedRun> runs;  ///< the first is one worker alone
  bool sync_bn = false;           ///< batch norm is over all workers
  int shards = 0;                 ///< that were asked for; 0 for none

  const ComparedRun& alone() const { return runs.front(); }
  bool all_agree() const;  ///< of those that are exact
  /// Of the methods; nullptr if there is none.
  const ComparedRun* fastest() const;
  const ComparedRun* slowest() const;
  double speedup(const ComparedRun& run) const;  ///< over one worker, per iteration
};

/// Runs one job and returns its summary.
using RunJob = std::function<train::Summary(const train::TrainConfig&)>;

/// The job with this method: a name as --sync has it, or "ddp+float16" for ddp with --compress
/// float16.
train::TrainConfig with_method(const train::TrainConfig& job, const std::string& method);

/// One worker alone, then each method with `job`'s workers; each in a folder of its own below
/// `job`'s. Throws whatever `run` throws.
Comparison compare(const train::TrainConfig& job, const std::vector<std::string>& methods,
                   const RunJob& run);

/// |a − b| / |a| over all tensors of two safetensors files. Throws FileError, or Error if they do
/// not hold the same tensors.
double relative_difference(const std::filesystem::path& a, const std::filesystem::path& b);

/// A row a run: how fast, where the time goes, what it learnt.
TextTable table_of(const Comparison& comparison);

/// In plain words, from the measurements: what does not differ and should not, which method is
/// fastest and why.
std::vector<std::string> sentences_of(const Comparison& comparison);

/// `{"kind": "compare", "runs": […], "tables": […], "notes": […], "verdict": …}`.
nlohmann::json to_json(const Comparison& comparison);

}  // namespace lockstep::study
