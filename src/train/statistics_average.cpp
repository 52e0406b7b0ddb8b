#include "train/statistics_average.h"

#include "sync/rank_zero_average.h"

#include <cstring>

namespace lockstep::train {

void average_statistics(Group& group, engine::Engine& engine) {
  const std::vector<ArrayView> statistics = engine.statistics();
  std::size_t count = 0;
  for (const ArrayView& view : statistics) count += view.count;
  if (count == 0) return;

  const auto ranks = static_cast<std::size_t>(group.size());
  std::vector<std::byte> memory(ranks * count * size_of(engine.type()));
  const ArrayView all(memory.data(), ranks * count, engine.type());
  const ArrayView mine = all.slice(static_cast<std::size_t>(group.rank()) * count, count);
  auto* place = static_cast<std::byte*>(mine.data);
  for (const ArrayView& view : statistics) {
    std::memcpy(place, view.data, view.bytes());
    place += view.bytes();
  }

  group.all_gather(mine, all);
  sync::average_parts(all, group.size());

  place = static_cast<std::byte*>(mine.data);
  for (const ArrayView& view : statistics) {
    std::memcpy(view.data, place, view.bytes());
    place += view.bytes();
  }
}

}  // namespace lockstep::train
