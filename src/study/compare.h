// compare: trains the same job with every sync method, and once with one worker as the reference.
#pragma once

#include "base/table/text_table.h"
#include "run/ranking.h"
#include "run/summary.h"
#include "study/remarks.h"
#include "train/config/config.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::study {

/// One training of a variant.
struct Repetition {
  std::string folder;  ///< relative to that of the study
  run::Summary summary;
};

struct ComparedRun {
  std::string name;              ///< the method, or "alone" for one worker
  std::string inexactness = {};  ///< as of TrainConfig
  int averages_every = 1;        ///< local-sgd: steps between two averages of the weights
  std::string folder = {};       ///< of the median repetition by images per second
  run::Summary summary;          ///< of that repetition
  /// Distance of the final weights from those of one worker, relative to their norm.
  double weights_difference = 0;
  /// Relative distance of the final weights from those of the first method. The methods differ only
  /// in their summation order.
  double methods_difference = 0;
  /// The largest difference of an iteration's loss from that of one worker.
  double loss_difference = 0;
  std::vector<Repetition> repetitions = {};  ///< in their order

  bool exact() const { return inexactness.empty(); }
  run::Throughput throughput() const;
};

/// Relative distances below this count as equal: another summation order in float32 changes less.
constexpr double kSameWeights = 1e-6;

struct Comparison {
  std::vector<ComparedRun> runs;  ///< the first is the run with one worker
  bool sync_bn = false;           ///< whether batch norm uses the statistics of all workers
  int shards = 0;                 ///< value of --shards; 0 for none
  Machine machine = {};

  const ComparedRun& alone() const { return runs.front(); }
  bool all_agree() const;  ///< whether all exact methods end with the weights of one worker
  run::Ranking ranking() const;
  /// The fastest and the slowest exact method, or of all methods if none is exact; nullptr if there
  /// is no method. Others may be within noise of them.
  const ComparedRun* fastest() const;
  const ComparedRun* slowest() const;
  double speedup(const ComparedRun& run) const;  ///< in images per second, relative to one worker
};

/// Runs one job and returns its summary.
using RunJob = std::function<run::Summary(const train::TrainConfig&)>;

/// The job with this method: a value of --sync, or "ddp+float16" for ddp with --compress float16.
train::TrainConfig with_method(const train::TrainConfig& job, const std::string& method);

/// Rounds unless --repeat says otherwise: up to three within a minute, so that the noise of short
/// runs is known.
int usual_rounds(double first_round_seconds);

/// Trains with one worker, then with each method and the workers of `job`; then all of them again,
/// `repeat` times in total or usual_rounds(). Every run has its own folder below that of `job`:
/// ring, repeat-2/ring, … Throws whatever `run` throws.
Comparison compare(const train::TrainConfig& job, const std::vector<std::string>& methods,
                   const RunJob& run, std::optional<int> repeat = {});

/// |a − b| / |a| over all floating-point tensors of two safetensors files. Throws FileError, or
/// Error if the files do not hold the same tensors.
double relative_difference(const std::filesystem::path& a, const std::filesystem::path& b);

/// One row per run: speed, parts of the time, loss and accuracy.
TextTable table_of(const Comparison& comparison);

/// Which method is fastest, whether one that is not exact is faster, and the speed-up.
std::string verdict_of(const Comparison& comparison);

/// The findings, derived from the measurements: whether the results agree, reasons for the
/// differences in speed, the verdict of the fastest run, and remarks on the measurement.
std::vector<std::string> sentences_of(const Comparison& comparison);

/// `{"kind": "compare", "runs": […], "tables": […], "notes": […], "verdict": …}`.
nlohmann::json to_json(const Comparison& comparison);

}  // namespace lockstep::internal::study
