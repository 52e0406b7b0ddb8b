// Participation: the present step's settings of a Join for its DistributedDataParallel.
#pragma once

#include <lockstep/ddp.h>

namespace lockstep {

namespace internal::ddp {

struct Participation {
  bool joining = false;   ///< whether a Join exists
  bool has_batch = true;  ///< whether this rank has a batch; if not, its gradients count as zeros
  double scale = 1;       ///< factor of the average over all ranks
  int first = 0;          ///< the first rank with a batch: its buffers are copied to all ranks
};

}  // namespace internal::ddp

struct DistributedDataParallel::Participation : internal::ddp::Participation {};

}  // namespace lockstep
