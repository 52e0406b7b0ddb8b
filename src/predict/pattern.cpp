#include "predict/pattern.h"

#include <lockstep/error.h>

#include "base/pages.h"
#include "comm/group_core.h"
#include "comm/recording/recording_transport.h"

#include <fmt/format.h>

namespace lockstep::internal::predict {

using comm::Operation;

namespace {

/// Two arrays that all ranks use in turn: their contents do not matter.
struct Arrays {
  ArrayView all;
  ArrayView part;
};

void call(Group& group, const Collective& what, const Arrays& arrays) {
  switch (what.operation) {
    case Operation::all_reduce:
      return group.all_reduce(arrays.all, ReduceOp::sum, what.algorithm);
    case Operation::reduce:
      return group.reduce(arrays.all, ReduceOp::sum, 0, what.algorithm);
    case Operation::broadcast:
      return group.broadcast(arrays.all, 0, what.algorithm);
    case Operation::reduce_scatter:
      return group.reduce_scatter(arrays.all, arrays.part, ReduceOp::sum, what.algorithm);
    case Operation::all_gather:
      return group.all_gather(arrays.part, arrays.all, what.algorithm);
    case Operation::gather:
      return group.gather(arrays.part, arrays.all);
    case Operation::scatter:
      return group.scatter(arrays.all, arrays.part);
    default:
      return group.barrier();
  }
}

}  // namespace

Pattern record(const Collective& collective, const comm::RecordedWorld& world) {
  const auto ranks = static_cast<std::size_t>(world.size);
  const bool in_parts = collective.operation != Operation::all_reduce &&
                        collective.operation != Operation::reduce &&
                        collective.operation != Operation::broadcast;
  std::size_t count = static_cast<std::size_t>(collective.bytes) / sizeof(float);
  if (in_parts) count = count / ranks * ranks;
  const auto memory = map_pages(2 * count * sizeof(float) + 1);
  if (!memory)
    throw UsageError(fmt::format(
        "an array of {:.4g} bytes does not fit this machine's memory, which the simulation needs",
        collective.bytes));
  auto* const values = reinterpret_cast<float*>(memory.get());
  const Arrays arrays{{values, count, DataType::float32},
                      {values + count, count / ranks, DataType::float32}};
  Collective what = collective;
  what.algorithm = resolve(collective, world);
  Pattern pattern{world, {}};
  for (int rank = 0; rank < world.size; ++rank) {
    auto transport = std::make_unique<comm::RecordingTransport>(rank, world);
    const comm::RecordingTransport& recording = *transport;
    Group group = comm::make_group(std::move(transport), {});
    call(group, what, arrays);
    pattern.ranks.push_back(recording.steps());
  }
  return pattern;
}

}  // namespace lockstep::internal::predict
