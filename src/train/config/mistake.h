// Mistake: a classic error of data-parallel training, made on purpose to study its effect. None of
// them causes a failure: the loss still decreases, so such errors often remain unnoticed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::train {

enum class Mistake {
  none,
  /// Every worker updates by its own gradients, and the average that follows is not used: the
  /// workers train independently.
  sync_after_update,
  /// The order of the images is the same in every epoch.
  same_order,
  /// Every worker starts from different weights; equal updates keep them different.
  different_weights,
  /// Gradients are added up but not divided by the number of workers.
  sum,
  /// Every worker uses the first worker's images; those of the other workers are never used.
  same_shard,
};

std::string_view name_of(Mistake mistake);  ///< "sync-after-update"
std::vector<std::string> mistake_names();   ///< all but none

/// The mistake of this name; none for an empty name. Throws UsageError for an unknown one.
Mistake parse_mistake(std::string_view name);

/// Whether the workers end with different weights.
inline bool parts_workers(Mistake mistake) {
  return mistake == Mistake::sync_after_update || mistake == Mistake::different_weights;
}

}  // namespace lockstep::internal::train
