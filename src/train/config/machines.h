// The machines that a run's workers are on.
#pragma once

#include <lockstep/group.h>

namespace lockstep::internal::train {

struct Machines {
  int cores = 1;         ///< cores that all workers together may use
  bool one_host = true;  ///< all ranks can share memory
};

/// A collective; all ranks get the same result.
Machines find_machines(Group& group);

}  // namespace lockstep::internal::train
