// The summary of a run, from the records and results of all ranks.
#pragma once

#include <lockstep/group.h>

#include "run/record.h"
#include "run/summary.h"
#include "train/config/config.h"
#include "train/config/machines.h"
#include "train/feed.h"
#include "train/policy/tester.h"
#include "train/replica.h"
#include "train/run_verdict.h"

#include <cstddef>
#include <vector>

namespace lockstep::internal::train {

/// The parts and results of a run that has ended.
struct FinishedRun {
  const TrainConfig& config;
  const Replica& replica;
  const Feed& feed;
  const Tester& tester;
  const Machines& machines;
  std::size_t iterations = 0;  ///< over the whole run
  std::size_t steps = 0;       ///< iterations since this start
  double seconds = 0;          ///< that these steps took
  double latency = 0;          ///< seconds of an operation on a few bytes, on this rank
  int classes = 0;             ///< of the images
  /// On rank 0, by rank: records since this start, and of the last epoch.
  const std::vector<std::vector<run::Record>>& records;
  const std::vector<std::vector<run::Record>>& epoch_records;
  const run::Epochs& epochs;
};

/// The summary on rank 0; an empty one on other ranks. Throws Error if the ranks' weights differ
/// and no deliberate mistake explains that. A collective. REQUIRES: the newest test came after the
/// run's last iteration.
run::Summary build_summary(Group& group, const FinishedRun& run);

}  // namespace lockstep::internal::train
