// LatencyProbe: measures the latency of an operation between the ranks.
//
// It times steps of the run's sync method with gradients of one element, some before the run and
// some between its iterations, because the load of a machine varies. In total it makes about a
// hundred small operations, however long the run is.
#pragma once

#include <lockstep/group.h>

#include "sync/sync_method.h"

#include <memory>
#include <optional>
#include <vector>

namespace lockstep::internal::train {

class LatencyProbe {
 public:
  /// A collective. With one rank nothing is measured.
  LatencyProbe(Group group, const sync::Method& method);

  /// Measures after some iterations. A collective: all ranks call it after the same iterations.
  void after_iteration(std::size_t iteration);

  /// Seconds of an operation on this rank; 0 with one rank.
  double seconds() const;

 private:
  void measure();

  Group group_;
  std::optional<sync::Gradients> gradients_;
  std::unique_ptr<sync::SyncMethod> method_;  ///< null with one rank
  std::vector<double> measured_;
};

}  // namespace lockstep::internal::train
