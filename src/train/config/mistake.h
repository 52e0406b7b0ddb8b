// Mistake: a classic error of data-parallel training, made on purpose, to see what it does. Nothing
// fails: the loss goes down all the same, which is why such errors live long.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::train {

enum class Mistake {
  none,
  /// Every worker updates by its own gradients, and what is averaged afterwards is never used: the
  /// workers train apart.
  sync_after_update,
  /// The order of the images is drawn once, not anew in every epoch.
  same_order,
  /// Every worker starts from weights of its own; equal gradients then keep them apart for ever.
  different_weights,
  /// Gradients are added up but not divided by the number of workers.
  sum,
  /// Every worker takes the first worker's images: the others' are never seen.
  same_shard,
};

std::string_view name_of(Mistake mistake);  ///< "sync-after-update"
std::vector<std::string> mistake_names();   ///< all but none

/// The mistake of this name; none for an empty one. Throws UsageError for a name that is not known.
Mistake parse_mistake(std::string_view name);

/// Whether workers that make it end with weights of their own.
inline bool parts_workers(Mistake mistake) {
  return mistake == Mistake::sync_after_update || mistake == Mistake::different_weights;
}

}  // namespace lockstep::internal::train
