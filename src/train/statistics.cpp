#include "train/statistics.h"

#include "sync/rank_zero_average.h"

#include <algorithm>
#include <cstring>

namespace lockstep::train {

namespace {

/// What is averaged first, counts behind it.
std::vector<ArrayView> ordered_statistics(engine::Engine& engine) {
  std::vector<ArrayView> views = engine.statistics();
  std::stable_partition(views.begin(), views.end(),
                        [](const ArrayView& view) { return is_floating(view.type); });
  return views;
}

}  // namespace

Statistics::Statistics(engine::Engine& engine, const sync::Shards& shards)
    : engine_(engine), shards_(shards), copies_(static_cast<std::size_t>(shards.count)) {
  for (const ArrayView& view : engine.statistics())
    if (is_floating(view.type)) averaged_ += view.bytes();
  spread();
}

void Statistics::save() {
  std::vector<std::byte>& copy = copies_[static_cast<std::size_t>(current_)];
  copy.clear();
  for (const ArrayView& view : ordered_statistics(engine_)) {
    const auto* bytes = static_cast<const std::byte*>(view.data);
    copy.insert(copy.end(), bytes, bytes + view.bytes());
  }
}

void Statistics::load() {
  const std::byte* place = copies_[static_cast<std::size_t>(current_)].data();
  for (const ArrayView& view : ordered_statistics(engine_)) {
    std::memcpy(view.data, place, view.bytes());
    place += view.bytes();
  }
}

void Statistics::enter(int shard) {
  if (shard == current_) return;
  save();
  current_ = shard;
  load();
}

void Statistics::spread() {
  save();
  const std::vector<std::byte> mine = copies_[static_cast<std::size_t>(current_)];
  for (std::vector<std::byte>& copy : copies_) copy = mine;
}

void Statistics::average(Group& group) {
  if (averaged_ == 0) return;
  save();
  const std::size_t count = averaged_ / size_of(engine_.type());
  const auto shards = static_cast<std::size_t>(shards_.all);
  std::vector<std::byte> memory(shards * averaged_);
  const ArrayView all(memory.data(), shards * count, engine_.type());
  const ArrayView mine =
      all.slice(static_cast<std::size_t>(shards_.first) * count, copies_.size() * count);
  auto* place = static_cast<std::byte*>(mine.data);
  for (std::size_t i = 0; i < copies_.size(); ++i)
    std::memcpy(place + i * averaged_, copies_[i].data(), averaged_);
  group.all_gather(mine, all);
  sync::reduce_parts(all, shards_.all, ReduceOp::average);
  for (std::vector<std::byte>& copy : copies_) std::memcpy(copy.data(), place, averaged_);
  current_ = 0;
  load();
}

}  // namespace lockstep::train
