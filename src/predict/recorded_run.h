// RecordedRun: the iteration of a single worker, read from the folder of its run: the times of its
// parts, and when in backward each gradient is ready.
#pragma once

#include <lockstep/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::internal::predict {

struct RecordedGradient {
  std::string name;
  double bytes = 0;
  double ready = 0;  ///< seconds after backward began
};

/// Seconds are medians over the iterations of the run's trace, without the first.
struct RecordedRun {
  std::string model;
  DataType type = DataType::float32;
  std::size_t batch = 0;  ///< images per step
  int threads = 1;        ///< threads of the worker
  int states = 0;         ///< optimizer states per weight
  double data = 0;
  double forward = 0;
  double backward = 0;
  double optimizer = 0;
  double other = 0;                         ///< time between them
  std::vector<RecordedGradient> gradients;  ///< by parameter number

  double seconds() const { return data + forward + backward + optimizer + other; }
  double bytes() const;
};

/// Reads the folder of a run, or a file that describes a step without a run (see docs/predict.md).
/// Throws UsageError if the folder has no run, a trace of fewer than two iterations, or a run of
/// several workers; FileError for damaged files.
RecordedRun read_recorded_run(const std::filesystem::path& source);

}  // namespace lockstep::internal::predict
