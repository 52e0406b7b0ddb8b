// Conclusion: what a run has come to, over all its ranks.
#pragma once

#include <lockstep/group.h>

#include "train/config.h"
#include "train/feed.h"
#include "train/judgement.h"
#include "train/machines.h"
#include "train/recorder.h"
#include "train/replica.h"
#include "train/summary.h"
#include "train/tester.h"

#include <cstddef>
#include <vector>

namespace lockstep::train {

/// What a run was made of, and how far it has come. All must outlive the call.
struct Concluded {
  const TrainConfig& config;
  const Replica& replica;
  const Feed& feed;
  const Tester& tester;
  const Machines& machines;
  std::size_t iterations = 0;  ///< over the whole run
  std::size_t steps = 0;       ///< of them, in this training
  double seconds = 0;          ///< that these took
  double latency = 0;          ///< of this rank's messages
  /// On rank 0, by rank: of this training, and of the last epoch.
  const std::vector<std::vector<Record>>& records;
  const std::vector<std::vector<Record>>& epoch_records;
};

/// The summary of rank 0; nothing elsewhere. Throws InternalError if the ranks' weights differ,
/// though they should not. A collective. REQUIRES: the newest test is of the run's last iteration.
Summary conclude(Group& group, const Concluded& run);

}  // namespace lockstep::train
