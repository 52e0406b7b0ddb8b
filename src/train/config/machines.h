// The machines that a run's workers are on.
#pragma once

#include <lockstep/group.h>

namespace lockstep::internal::train {

struct Machines {
  int cores = 1;         ///< that the workers may use, of all of them together
  bool one_host = true;  ///< all ranks can share memory
};

/// A collective; all ranks get the same.
Machines find_machines(Group& group);

}  // namespace lockstep::internal::train
