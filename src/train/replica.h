// Replica: one rank's copy of the model and everything that keeps it equal to the copies of the
// other ranks: the engine, flat weights and gradients, the sync method and the optimizer. step() is
// the one implementation of a training step, for `lockstep train` and SequentialTrainer. A rank
// that hosts several shards computes them one after another.
#pragma once

#include <lockstep/group.h>

#include "comm/purpose.h"
#include "data/loader.h"
#include "data/sampler.h"
#include "engine/engine.h"
#include "observe/trace.h"
#include "optim/optimizer.h"
#include "optim/tensor_range.h"
#include "run/record.h"
#include "sync/accumulation.h"
#include "sync/shard_sum.h"
#include "sync/shards.h"
#include "sync/sync_method.h"
#include "sync/weight_check.h"
#include "sync/whole_state.h"
#include "train/batch_norm_buffers.h"
#include "train/batch_source.h"
#include "train/config/recipe.h"
#include "train/step_trace.h"

#include <functional>
#include <memory>
#include <optional>

namespace lockstep::internal::train {

/// What a Replica is assembled from. All ranks give the same, except for `shards`.
struct ReplicaParts {
  using MakeMethod = std::function<std::unique_ptr<sync::SyncMethod>(
      const Group& group, const sync::Gradients& gradients, const ArrayView& weights)>;
  using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(
      const ArrayView& weights, const ArrayView& gradients,
      const std::vector<optim::TensorRange>& tensors)>;

  std::unique_ptr<engine::Engine> engine;
  /// The shards that this rank hosts.
  sync::Shards shards;
  /// How gradients of ranks are combined: `average`, or `sum` for results that do not depend on the
  /// number of workers, where nothing is divided.
  ReduceOp op = ReduceOp::average;
  /// The group that the engine's batch norm communicates on, if it does. It is not the gradients'
  /// group, whose queued operations would delay it.
  std::optional<Group> batch_norm_group;
  sync::BucketOptions buckets;
  MakeMethod make_method;
  /// Whether the method reduces bucket by bucket; for the trace.
  bool reduces_buckets = true;
  MakeOptimizer make_optimizer;
  /// Gradient accumulation, clipping, and which parameters are not decayed.
  Recipe recipe;
  /// Give all ranks the initial weights of rank 0.
  bool broadcast_weights = true;
  /// Text for the user about engine and method; may be empty.
  std::string notice;
};

/// Used by one thread at a time.
class Replica {
 public:
  /// Throws MismatchError, the same on every rank, if the ranks' engines lay out their parameters
  /// differently. A collective.
  Replica(Group group, ReplicaParts parts);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// Called in a step when gradients are reduced and nothing is updated yet, with the step's record
  /// so far. If it throws, the weights are unchanged.
  using BeforeUpdate = std::function<void(const run::Record&)>;

  /// One training step on this rank's images of the next global batch: forward, backward with
  /// overlapped reduction, update. Returns its scores, times and bytes; the caller fills in
  /// iteration and learning rate. If backward throws, the step is abandoned: the weights are
  /// unchanged, and the other ranks do not wait for this rank's gradients. A collective.
  run::Record step(BatchSource& batches, const BeforeUpdate& before_update = {});

  /// Sets the learning rate of later steps.
  void set_learning_rate(double rate) { method_->set_learning_rate(*optimizer_, rate); }

  /// Records later steps in `trace`: their parts, the operations of engine and groups, and when
  /// each gradient is ready. Null ends that. REQUIRES: the trace lives until then.
  void record_in(observe::Trace* trace);

  /// Scores of one batch with this rank's running statistics. Not a collective.
  engine::Score evaluate(const data::Batch& batch) { return engine_->evaluate(batch); }

  /// Scores over the first `count` images of a data set, which are split over the ranks; all ranks
  /// get the sum. Calls average_statistics() first, so that later saves hold the model that was
  /// evaluated. A collective.
  engine::Score evaluate(const data::Loader& loader, std::size_t count);

  /// Scores over the first `count` images with this rank's own weights and running statistics; if
  /// it hosts several shards, with those of its first one. Not a collective.
  engine::Score evaluate_alone(const data::Loader& loader, std::size_t count);

  /// Parameters and buffers.
  std::vector<models::StoredTensor> model_state() const;

  /// The complete training state, on rank 0; empty on other ranks. Holds parameters, the batch-norm
  /// buffers of each shard (see shard_buffers.h) and their average, and the optimizer's state as
  /// "optimizer.momentum.NAME" with its step count. Changes the weights only if the method lets
  /// ranks' weights differ, which are then averaged. A collective.
  std::vector<models::StoredTensor> state();

  /// Copies the batch-norm buffers of all ranks to this one, for own_state(). A collective.
  void keep_statistics();

  /// The complete training state from this rank's memory alone, with the batch-norm buffers of the
  /// last keep_statistics(). Not a collective: other ranks may be gone. REQUIRES: this rank has all
  /// of the optimizer's state.
  std::vector<models::StoredTensor> own_state();

  /// Loads a result of state() or own_state(). Throws FileError, which names `source`, if a tensor
  /// is missing or does not fit.
  void restore(const std::vector<models::StoredTensor>& state, const std::string& source);

  /// Averages the batch-norm buffers over all ranks, and the weights if the method lets them
  /// differ. A collective.
  void average_statistics();

  /// Throws Error, the same on every rank, if the ranks' weights differ; see sync/weight_check.h. A
  /// collective.
  void require_same_weights(std::size_t step) {
    sync::require_same_weights(group_, gradients_, flat_weights(), step);
  }

  /// Bytes that this rank has sent on the groups of this replica.
  comm::BytesByPurpose bytes_sent() const;

  const engine::Engine& engine() const { return *engine_; }
  /// Where each parameter lies in the flat arrays.
  const sync::Layout& layout() const { return gradients_.layout(); }
  const std::string& notice() const { return notice_; }

 private:
  /// Runs backward; if it throws, abandons the step.
  void run_backward(double weight);
  /// The same for the `number`-th shard of this rank. Returns its loss; other scores are added to
  /// the record.
  double compute_shard(BatchSource& batches, int number, run::Record& record);
  engine::Score compute(BatchSource& batches, int number, int part, run::Record& record);
  /// The weight of a micro-batch's mean loss in the gradients.
  double loss_weight(const MicroBatch& batch) const;
  /// Called by backward as soon as a parameter's gradient is final.
  void ready(std::size_t parameter);
  /// Moves the seconds that batch norm communicated since the last call from `part` to exposed
  /// communication.
  void count_batch_norm(double& part, run::Record& record);
  /// The model's part of state().
  std::vector<models::StoredTensor> stored_model();
  /// Appends the optimizer's part of state() to `all`.
  void add_optimizer_state(std::vector<sync::WholeState> whole,
                           std::vector<models::StoredTensor>& all) const;
  engine::Score evaluate_range(const data::Loader& loader, const data::Range& range);
  ArrayView flat_weights() const;
  void synchronise(observe::Times& times);
  void update(observe::Times& times);

  Group group_;
  const sync::Shards shards_;
  const ReduceOp op_;
  std::optional<Group> norm_group_;
  Counters norm_counted_;
  std::unique_ptr<engine::Engine> engine_;
  BatchNormBuffers statistics_;
  sync::Gradients gradients_;
  Memory weights_;
  const Recipe recipe_;
  sync::Accumulation accumulation_;
  sync::ShardSum sum_;
  std::unique_ptr<optim::Optimizer> optimizer_;  ///< outlives the method, whose server may use it
  std::unique_ptr<sync::SyncMethod> method_;
  const std::string notice_;
  StepTrace trace_;
  std::vector<optim::TensorRange> tensors_;  ///< by parameter
};

}  // namespace lockstep::internal::train
