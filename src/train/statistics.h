// Statistics: batch norm's running means and variances, of each shard that a worker hosts. Shards
// see images of their own, so theirs differ; the engine holds those of one shard at a time. Before
// a model is evaluated or saved they are made one.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"
#include "sync/shards.h"

#include <functional>
#include <vector>

namespace lockstep::train {

class Statistics {
 public:
  /// Every shard starts with what the engine has. The engine must outlive it.
  Statistics(engine::Engine& engine, const sync::Shards& shards);

  /// Makes the engine's statistics those of the worker's `shard`-th shard, from 0.
  void enter(int shard);

  /// Gives every shard what the engine has now.
  void spread();

  /// Replaces those of all shards of all workers by their average, added in the order of the fixed
  /// tree on any transport: the same to the bit on all. The engine's counts of batches are the
  /// worker's first shard's. A collective, unless the model has none.
  void average(Group& group);

  /// Calls `each` with every shard of all workers in turn, then `together`, while the engine has
  /// that shard's statistics, or what average() would make of all. Afterwards it has what it had:
  /// nothing has changed. Without statistics only `together` is called. A collective.
  void show(Group& group, const std::function<void(int shard)>& each,
            const std::function<void()>& together);

  /// From now on this rank remembers what those of all shards of all workers are now, whatever
  /// becomes of the others. A collective, unless the model has none.
  void keep(Group& group);
  /// Calls `each` with every shard in turn, while the engine has what keep() found. Afterwards it
  /// has what it had. Not at all without statistics. REQUIRES: keep() was called.
  void show_kept(const std::function<void(int shard)>& each);

 private:
  void save();
  void load();
  /// Makes the engine's statistics those that lie there as in a copy.
  void put(const std::byte* place);
  /// The copies of all workers' shards, one after another. A collective.
  std::vector<std::byte> gather(Group& group);
  sync::Shards hosted_by(const Group& group, int rank) const;
  /// What is averaged of them.
  std::vector<std::byte> average_of(const std::vector<std::byte>& all) const;

  engine::Engine& engine_;
  const sync::Shards shards_;
  std::size_t averaged_ = 0;                    ///< bytes: these come first, counts behind them
  std::vector<std::vector<std::byte>> copies_;  ///< by shard; that of `current_` is out of date
  int current_ = 0;
  std::vector<std::byte> kept_;  ///< the copies of all workers' shards, one after another
};

}  // namespace lockstep::train
