// Replica: one rank's copy of the model, and all that keeps it in step with the others: flat
// weights and gradients, the sync method, the optimizer.
#pragma once

#include <lockstep/group.h>

#include "engine/make_engine.h"
#include "observe/trace.h"
#include "optim/optimizer.h"
#include "sync/sync_method.h"
#include "train/config.h"
#include "train/feed.h"
#include "train/recorder.h"
#include "train/slowdown.h"
#include "train/step_trace.h"

#include <memory>
#include <optional>

namespace lockstep::train {

class Replica {
 public:
  /// A collective. Afterwards all ranks have rank 0's weights: those of config.init, or drawn from
  /// the seed. Makes config.mistake, if there is one.
  Replica(Group group, const TrainConfig& config, const data::ImageShape& images);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// One iteration on this rank's share of the feed's next global batch: the line from loader to
  /// optimizer. The record has its epoch, scores, times and bytes; iteration and learning rate are
  /// the caller's to fill in. A collective.
  Record step(Feed& feed);

  /// From now on step() writes to the trace what it does, what the engine and the group do, and
  /// when each gradient is ready; until it is called with null. The trace must live as long.
  void record_in(observe::Trace* trace);

  /// The scores over the first `count` images of a data set, each counted once, shared out over the
  /// ranks; all ranks get the sum. Batch norm's statistics are averaged first, and stay so: what is
  /// saved afterwards is what was evaluated. A collective.
  engine::Score evaluate(const data::Loader& loader, std::size_t count);

  /// Parameters and buffers.
  std::vector<models::StoredTensor> model_state() const;

  /// All that training changes: parameters and buffers, and the optimizer's state as
  /// "optimizer.momentum.NAME". The same on all ranks once statistics are averaged.
  std::vector<models::StoredTensor> state() const;

  /// Takes such a state over, and checks that it fits; messages call it `source`.
  void restore(const std::vector<models::StoredTensor>& state, const std::string& source);

  /// Makes batch norm's statistics one, as evaluate does, unless they are: with sync_bn. A
  /// collective.
  void average_statistics();

  const engine::Engine& engine() const { return *engine_; }
  /// Where the gradients lie.
  const sync::Layout& layout() const { return gradients_.layout(); }
  /// What a user may want to know of the choice of the engine; empty for nothing.
  const std::string& notice() const { return made_.notice; }

 private:
  /// Called by backward as soon as a parameter's gradient is final.
  void ready(std::size_t parameter);
  /// Batch norm's messages hold forward and backward up: what they took since the last call is no
  /// part of that, but exposed communication.
  void count_batch_norm(double& part, Record& record);
  void synchronise(observe::Times& times);
  void update(observe::Times& times);

  Group group_;
  const Mistake mistake_;
  std::optional<Group> norm_group_;  ///< its own, so that it does not queue behind gradients
  Counters norm_counted_;
  engine::MadeEngine made_;
  std::unique_ptr<engine::Engine> engine_;
  sync::Gradients gradients_;
  Memory weights_;
  std::unique_ptr<sync::SyncMethod> method_;
  StepTrace trace_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  const Slowdown slowdown_;
};

}  // namespace lockstep::train
