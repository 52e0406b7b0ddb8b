// Replica: one rank's copy of the model, and all that keeps it in step with the others: flat
// weights and gradients, the sync method, the optimizer.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"
#include "optim/optimizer.h"
#include "sync/sync_method.h"
#include "train/config.h"
#include "train/dataset.h"
#include "train/recorder.h"

#include <memory>
#include <span>

namespace lockstep::train {

class Replica {
 public:
  /// A collective. Afterwards all ranks have rank 0's weights: those of config.init, or drawn from
  /// the seed.
  Replica(Group group, const TrainConfig& config, const data::ImageShape& images);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// One iteration on this rank's share of a global batch: the line from loader to optimizer. The
  /// record has its scores, times and bytes; epoch and iteration are the caller's to fill in. A
  /// collective.
  Record step(const data::Loader& loader, std::span<const std::uint32_t> global_batch);

  /// The scores over the first `count` images of a data set, each counted once, shared out over the
  /// ranks; all ranks get the sum. A collective.
  engine::Score evaluate(const data::Loader& loader, std::size_t count);

  const engine::Engine& engine() const { return *engine_; }

 private:
  Group group_;
  std::unique_ptr<engine::Engine> engine_;
  sync::Gradients gradients_;
  Memory weights_;
  std::unique_ptr<sync::SyncMethod> method_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  data::Batch batch_;
};

}  // namespace lockstep::train
