// compare: the same job with every sync method, and once with one worker alone.
#pragma once

#include "train/config.h"
#include "train/summary.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lockstep::study {

struct ComparedRun {
  train::Summary summary;
  /// Distance of the final weights from those of the first run, relative to their norm.
  double weights_difference = 0;
};

/// Below this two trainings count as equal: float32 sums in another order differ by less.
constexpr double kSameWeights = 1e-6;

struct Comparison {
  std::vector<ComparedRun> runs;  ///< the first is one worker alone

  bool all_agree() const;
};

/// Runs one job and returns its summary.
using RunJob = std::function<train::Summary(const train::TrainConfig&)>;

/// One worker alone, then each method with `job`'s workers; each in a folder of its own below
/// `job`'s. Throws whatever `run` throws.
Comparison compare(const train::TrainConfig& job, const std::vector<std::string>& methods,
                   const RunJob& run);

/// |a − b| / |a| over all tensors of two safetensors files. Throws FileError, or Error if they do
/// not hold the same tensors.
double relative_difference(const std::filesystem::path& a, const std::filesystem::path& b);

nlohmann::json to_json(const Comparison& comparison);

}  // namespace lockstep::study
