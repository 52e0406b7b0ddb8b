// Participation: what a Join tells its DistributedDataParallel of the step under way.
#pragma once

#include <lockstep/ddp.h>

namespace lockstep {

struct DistributedDataParallel::Participation {
  bool joining = false;   ///< whether a Join lives
  bool has_batch = true;  ///< of this rank; else its gradients count as zeros
  double scale = 1;       ///< of the average over all ranks
  int first = 0;          ///< rank that has a batch: its buffers are everybody's
};

}  // namespace lockstep
