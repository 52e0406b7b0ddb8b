// DeliberateFaults: the mistakes (--mistake) and the slow rank (--slow) that a run is asked to
// have, to study their effect. They wrap the parts that a training step is made of; the step itself
// does not know them.
#pragma once

#include <lockstep/group.h>

#include "data/sampler.h"
#include "engine/engine.h"
#include "sync/shards.h"
#include "sync/sync_method.h"
#include "train/config/config.h"
#include "train/config/slowdown.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace lockstep::internal::train {

/// Without faults every function returns what it is given.
class DeliberateFaults {
 public:
  /// The faults of this rank of the group. Throws UsageError for an unknown one.
  DeliberateFaults(const TrainConfig& config, const Group& group);

  /// The seed of this rank's initial weights.
  std::uint64_t seed(std::uint64_t seed) const;
  bool broadcasts_weights() const { return mistake_ != Mistake::different_weights; }

  /// What the sampler and the feed of this rank are given.
  data::SamplerOptions sampling(data::SamplerOptions options) const;
  sync::Shards shards(sync::Shards shards) const;

  std::unique_ptr<engine::Engine> wrap(std::unique_ptr<engine::Engine> engine) const;
  std::unique_ptr<sync::SyncMethod> wrap(std::unique_ptr<sync::SyncMethod> method,
                                         std::size_t parameters) const;

 private:
  Mistake mistake_;
  int rank_;
  double gradient_scale_;  ///< of this rank's gradients
  double delay_;           ///< of each forward pass on this rank, in seconds
};

}  // namespace lockstep::internal::train
