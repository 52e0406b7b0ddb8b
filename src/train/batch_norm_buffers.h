// BatchNormBuffers: the running means and variances of batch norm for each shard that a worker
// hosts. Shards see different images, so their buffers differ; the engine holds those of one shard
// at a time. They are averaged before a model is evaluated or saved.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"
#include "sync/shards.h"

#include <functional>
#include <vector>

namespace lockstep::internal::train {

class BatchNormBuffers {
 public:
  /// Every shard starts with the engine's buffers. The engine must outlive this object.
  BatchNormBuffers(engine::Engine& engine, const sync::Shards& shards);

  /// Loads the buffers of the worker's `shard`-th shard, counted from 0, into the engine.
  void enter(int shard);

  /// Gives every shard the engine's current buffers.
  void spread();

  /// Replaces the buffers of all shards on all workers by their average, which is added in the
  /// order of the fixed tree and so the same to the bit everywhere. Batch counters are those of the
  /// worker's first shard. A collective, unless the model has no buffers.
  void average(Group& group);

  /// Calls `each` for every shard of all workers while the engine holds that shard's buffers, then
  /// `together` while it holds their average. The engine's buffers are restored afterwards. If the
  /// model has no buffers, only `together` is called. A collective.
  void show(Group& group, const std::function<void(int shard)>& each,
            const std::function<void()>& together);

  /// Copies the current buffers of all shards of all workers to this rank, for show_kept(). A
  /// collective, unless the model has no buffers.
  void keep(Group& group);
  /// Calls `each` for every shard of all workers while the engine holds its kept buffers. The
  /// engine's buffers are restored afterwards. Not called if the model has no buffers. REQUIRES:
  /// keep() was called.
  void show_kept(const std::function<void(int shard)>& each);

 private:
  void save();
  void load();
  /// Loads a shard's copy into the engine.
  void put(const std::byte* place);
  /// The copies of all workers' shards, one after another. A collective.
  std::vector<std::byte> gather(Group& group);
  sync::Shards hosted_by(const Group& group, int rank) const;
  /// The average of these copies, without the batch counters.
  std::vector<std::byte> average_of(const std::vector<std::byte>& all) const;

  engine::Engine& engine_;
  const sync::Shards shards_;
  std::size_t averaged_ = 0;  ///< bytes of a copy that are averaged; batch counters follow them
  std::vector<std::vector<std::byte>> copies_;  ///< by shard; that of `current_` is out of date
  int current_ = 0;                             ///< shard whose buffers the engine holds
  std::vector<std::byte> kept_;  ///< the copies of all workers' shards, one after another
};

}  // namespace lockstep::internal::train
