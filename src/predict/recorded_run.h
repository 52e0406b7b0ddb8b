// RecordedRun: what one worker alone needs for an iteration, out of the folder of its run: how long
// its parts take, and when in backward each gradient is ready.
#pragma once

#include <lockstep/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::predict {

struct RecordedGradient {
  std::string name;
  double bytes = 0;
  double ready = 0;  ///< seconds after backward began
};

/// Seconds are medians over the iterations of the run's trace, the first left out.
struct RecordedRun {
  std::string model;
  DataType type = DataType::float32;
  std::size_t batch = 0;  ///< images of a step
  int threads = 1;        ///< of the worker
  int states = 0;         ///< arrays as large as the weights that the optimizer keeps
  double data = 0;
  double forward = 0;
  double backward = 0;
  double optimizer = 0;
  double other = 0;                         ///< what is between them
  std::vector<RecordedGradient> gradients;  ///< by the parameter's number

  double seconds() const { return data + forward + backward + optimizer + other; }
  double bytes() const;
};

/// Out of the folder of a run; or out of a file that describes a step of which there is no run, as
/// docs/scaling.md says. Throws UsageError if the folder has no run, one that did not record a
/// trace of two iterations or more, or one of several workers; FileError for files that are
/// damaged.
RecordedRun read_recorded_run(const std::filesystem::path& source);

}  // namespace lockstep::predict
