#include "train/batch_norm_buffers.h"

#include "sync/methods/rank_zero_average.h"

#include <algorithm>
#include <cstring>

namespace lockstep::internal::train {

namespace {

/// What is averaged first, counts behind it.
std::vector<ArrayView> ordered_statistics(engine::Engine& engine) {
  std::vector<ArrayView> views = engine.running_statistics();
  std::stable_partition(views.begin(), views.end(),
                        [](const ArrayView& view) { return is_floating(view.type); });
  return views;
}

}  // namespace

BatchNormBuffers::BatchNormBuffers(engine::Engine& engine, const sync::Shards& shards)
    : engine_(engine), shards_(shards), copies_(static_cast<std::size_t>(shards.count)) {
  for (const ArrayView& view : engine.running_statistics())
    if (is_floating(view.type)) averaged_ += view.bytes();
  spread();
}

void BatchNormBuffers::save() {
  std::vector<std::byte>& copy = copies_[static_cast<std::size_t>(current_)];
  copy.clear();
  for (const ArrayView& view : ordered_statistics(engine_)) {
    const auto* bytes = static_cast<const std::byte*>(view.data);
    copy.insert(copy.end(), bytes, bytes + view.bytes());
  }
}

void BatchNormBuffers::load() {
  put(copies_[static_cast<std::size_t>(current_)].data());
}

void BatchNormBuffers::put(const std::byte* place) {
  for (const ArrayView& view : ordered_statistics(engine_)) {
    std::memcpy(view.data, place, view.bytes());
    place += view.bytes();
  }
}

void BatchNormBuffers::enter(int shard) {
  if (shard == current_) return;
  save();
  current_ = shard;
  load();
}

void BatchNormBuffers::spread() {
  save();
  const std::vector<std::byte> mine = copies_[static_cast<std::size_t>(current_)];
  for (std::vector<std::byte>& copy : copies_) copy = mine;
}

std::vector<std::byte> BatchNormBuffers::gather(Group& group) {
  save();
  const std::size_t bytes = copies_.front().size();
  const auto ranks = static_cast<std::size_t>(group.size());
  // The last rank hosts the most; others leave the rest of their room empty.
  const std::size_t room =
      static_cast<std::size_t>(hosted_by(group, group.size() - 1).count) * bytes;
  std::vector<std::byte> memory(ranks * room);
  const ArrayView all(memory.data(), memory.size(), DataType::uint8);
  const ArrayView mine = all.slice(static_cast<std::size_t>(group.rank()) * room, room);
  for (std::size_t i = 0; i < copies_.size(); ++i)
    std::memcpy(static_cast<std::byte*>(mine.data) + i * bytes, copies_[i].data(), bytes);
  group.all_gather(mine, all);
  for (int rank = 0; rank < group.size(); ++rank) {
    const sync::Shards its = hosted_by(group, rank);
    std::memmove(memory.data() + static_cast<std::size_t>(its.first) * bytes,
                 memory.data() + static_cast<std::size_t>(rank) * room,
                 static_cast<std::size_t>(its.count) * bytes);
  }
  memory.resize(static_cast<std::size_t>(shards_.all) * bytes);
  return memory;
}

sync::Shards BatchNormBuffers::hosted_by(const Group& group, int rank) const {
  return sync::shards_of(shards_.all == group.size() ? 0 : shards_.all, rank, group.size());
}

std::vector<std::byte> BatchNormBuffers::average_of(const std::vector<std::byte>& all) const {
  const auto shards = static_cast<std::size_t>(shards_.all);
  const std::size_t bytes = all.size() / shards;
  std::vector<std::byte> parts(shards * averaged_);
  for (std::size_t shard = 0; shard < shards; ++shard)
    std::memcpy(parts.data() + shard * averaged_, all.data() + shard * bytes, averaged_);
  sync::reduce_parts({parts.data(), parts.size() / size_of(engine_.type()), engine_.type()},
                     shards_.all, ReduceOp::average);
  parts.resize(averaged_);
  return parts;
}

void BatchNormBuffers::average(Group& group) {
  if (averaged_ == 0) return;
  const std::vector<std::byte> average = average_of(gather(group));
  for (std::vector<std::byte>& copy : copies_) std::memcpy(copy.data(), average.data(), averaged_);
  current_ = 0;
  load();
}

void BatchNormBuffers::keep(Group& group) {
  if (averaged_ > 0) kept_ = gather(group);
}

void BatchNormBuffers::show_kept(const std::function<void(int shard)>& each) {
  if (averaged_ == 0) return;
  save();
  const std::size_t bytes = kept_.size() / static_cast<std::size_t>(shards_.all);
  for (int shard = 0; shard < shards_.all; ++shard) {
    put(kept_.data() + static_cast<std::size_t>(shard) * bytes);
    each(shard);
  }
  load();
}

void BatchNormBuffers::show(Group& group, const std::function<void(int shard)>& each,
                            const std::function<void()>& together) {
  if (averaged_ == 0) return together();
  const std::vector<std::byte> all = gather(group);
  const std::size_t bytes = all.size() / static_cast<std::size_t>(shards_.all);
  for (int shard = 0; shard < shards_.all; ++shard) {
    put(all.data() + static_cast<std::size_t>(shard) * bytes);
    each(shard);
  }
  std::vector<std::byte> one(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(bytes));
  const std::vector<std::byte> average = average_of(all);
  std::copy(average.begin(), average.end(), one.begin());
  put(one.data());
  together();
  load();
}

}  // namespace lockstep::internal::train
