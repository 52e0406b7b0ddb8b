// Replica: one rank's copy of the model, and all that keeps it in step with the others: flat
// weights and gradients, the sync method, the optimizer. It computes the shards that it hosts one
// after another.
#pragma once

#include <lockstep/group.h>

#include "engine/make_engine.h"
#include "observe/trace.h"
#include "optim/optimizer.h"
#include "optim/tensor_range.h"
#include "sync/accumulation.h"
#include "sync/shard_sum.h"
#include "sync/sync_method.h"
#include "sync/weight_check.h"
#include "sync/whole_state.h"
#include "train/config.h"
#include "train/feed.h"
#include "train/recorder.h"
#include "train/slowdown.h"
#include "train/statistics.h"
#include "train/step_trace.h"

#include <functional>
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

  /// One iteration on this rank's shares of the feed's next global batch: the line from loader to
  /// optimizer. The record has its epoch, scores, times and bytes; iteration and learning rate are
  /// the caller's to fill in. `agree`, if there is one, is called with it when the gradients are
  /// those of all, and nothing has been updated: if it throws, the weights are as they were. A
  /// collective.
  Record step(Feed& feed, const std::function<void(const Record&)>& agree = {});

  /// Of the steps to come.
  void set_learning_rate(double rate) { method_->set_learning_rate(*optimizer_, rate); }

  /// From now on step() writes to the trace what it does, what the engine and the group do, and
  /// when each gradient is ready; until it is called with null. The trace must live as long.
  void record_in(observe::Trace* trace);

  /// The scores over the first `count` images of a data set, each counted once, shared out over the
  /// ranks; all ranks get the sum. Batch norm's statistics are averaged first, and stay so: what is
  /// saved afterwards is what was evaluated. A collective.
  engine::Score evaluate(const data::Loader& loader, std::size_t count);

  /// Parameters and buffers.
  std::vector<models::StoredTensor> model_state() const;

  /// All that training changes: parameters and buffers, those averaged over all shards and each
  /// shard's own (see shard_buffers.h), and the optimizer's state as "optimizer.momentum.NAME" with
  /// its step count, on rank 0; nothing elsewhere. Changes nothing, unless the ranks' weights are
  /// to be made one first. A collective.
  std::vector<models::StoredTensor> state();

  /// From now on own_state() has batch norm's statistics as they are now. A collective.
  void keep_statistics() { statistics_.keep(group_); }

  /// What state() is on rank 0, from what this rank knows by itself: with the statistics that
  /// keep_statistics() found, and the model's own as they happen to be. No collective: others may
  /// be gone. REQUIRES: every rank has all of the optimizer's state.
  std::vector<models::StoredTensor> own_state();

  /// Takes such a state over, and checks that it fits; messages call it `source`.
  void restore(const std::vector<models::StoredTensor>& state, const std::string& source);

  /// Makes the ranks' weights one, and batch norm's statistics, as evaluate does, where they are
  /// not. A collective.
  void average_statistics();

  /// Throws Error, the same on all ranks, unless all have the same weights; see
  /// sync/weight_check.h. A collective.
  void require_same_weights(std::size_t step) {
    sync::require_same_weights(group_, gradients_, flat_weights(), step);
  }

  const engine::Engine& engine() const { return *engine_; }
  /// Where the gradients lie.
  const sync::Layout& layout() const { return gradients_.layout(); }
  /// What a user may want to know of the engine and the method; empty for nothing.
  const std::string& notice() const { return notice_; }

 private:
  /// Forward and backward of the `number`-th shard that this rank hosts, part by part: what it
  /// scores is added to the record, but for the loss, which is returned.
  double compute_shard(Feed& feed, int number, Record& record);
  /// Of one part, the feed's next share.
  engine::Score compute(Feed& feed, int number, int part, Record& record);
  /// What its mean loss counts in the gradients of the whole.
  double factor_of(const Feed::Share& share) const;
  /// Called by backward as soon as a parameter's gradient is final.
  void ready(std::size_t parameter);
  /// Batch norm's messages hold forward and backward up: what they took since the last call is no
  /// part of that, but exposed communication.
  void count_batch_norm(double& part, Record& record);
  /// Of state(): what is the model's.
  std::vector<models::StoredTensor> stored_model();
  /// Of state(): what is the optimizer's.
  void add_optimizer_state(std::vector<sync::WholeState> whole,
                           std::vector<models::StoredTensor>& all) const;
  engine::Score evaluate_share(const data::Loader& loader, const data::Range& mine);
  ArrayView flat_weights() const;
  void synchronise(observe::Times& times);
  void update(observe::Times& times);

  Group group_;
  const sync::Shards shards_;
  const Mistake mistake_;
  /// With shards gradients are added up, and nothing is divided; else they are averaged.
  const ReduceOp op_;
  std::optional<Group> norm_group_;  ///< its own, so that it does not queue behind gradients
  Counters norm_counted_;
  engine::MadeEngine made_;
  std::unique_ptr<engine::Engine> engine_;
  Statistics statistics_;
  sync::Gradients gradients_;
  Memory weights_;
  sync::Accumulation accumulation_;
  sync::ShardSum sum_;
  const sync::Method chosen_;
  std::unique_ptr<optim::Optimizer> optimizer_;  ///< outlives the method, whose server may use it
  std::unique_ptr<sync::SyncMethod> method_;
  const std::string notice_;
  StepTrace trace_;
  const Recipe recipe_;
  std::vector<optim::TensorRange> tensors_;  ///< by the parameter's number
  const Slowdown slowdown_;
};

}  // namespace lockstep::train
