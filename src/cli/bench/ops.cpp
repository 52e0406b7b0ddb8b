#include "cli/bench/ops.h"

#include "base/check.h"

#include <algorithm>
#include <cstring>

namespace lockstep::internal::cli {

namespace {

using Expected = std::optional<std::int64_t>;

std::size_t part_of(Group& group, ArrayView values) {
  return values.count / static_cast<std::size_t>(group.size());
}

ArrayView my_part(Group& group, ArrayView values) {
  const std::size_t part = part_of(group, values);
  return values.slice(part * static_cast<std::size_t>(group.rank()), part);
}

/// The elements divisible among the ranks; the remainder takes no part.
ArrayView whole_parts(Group& group, ArrayView values) {
  return values.slice(0, part_of(group, values) * static_cast<std::size_t>(group.size()));
}

void copy(ArrayView from, ArrayView to) {
  if (from.bytes() > 0) std::memcpy(to.data, from.data, from.bytes());
}

/// The result, at the beginning of scratch, is this rank's part.
void settle_part(Group& group, const BenchArrays& arrays) {
  copy(arrays.scratch.slice(0, part_of(group, arrays.values)), my_part(group, arrays.values));
}

void settle_on_root(Group& group, const BenchArrays& arrays) {
  if (group.rank() == 0)
    copy(whole_parts(group, arrays.scratch), whole_parts(group, arrays.values));
}

void ping_pong(Group& group, const BenchArrays& arrays, Algorithm) {
  if (group.rank() == 0 && group.size() > 1) {
    group.send(arrays.values, 1);
    group.recv(arrays.values, 1);
  } else if (group.rank() == 1) {
    group.recv(arrays.values, 0);
    group.send(arrays.values, 0);
  }
}

Expected sum_everywhere(const BenchPlace& place) {
  return place.sum();
}
Expected sum_on_root(const BenchPlace& place) {
  return place.rank == 0 ? Expected(place.sum()) : std::nullopt;
}
Expected sum_of_my_part(const BenchPlace& place) {
  return place.owner() == place.rank ? Expected(place.sum()) : std::nullopt;
}
Expected roots(const BenchPlace& place) {
  return place.written(0);
}
Expected roots_in_my_part(const BenchPlace& place) {
  return place.owner() == place.rank ? Expected(place.written(0)) : std::nullopt;
}
Expected owners(const BenchPlace& place) {
  return place.owner() < place.ranks ? Expected(place.written(place.owner())) : std::nullopt;
}
Expected owners_on_root(const BenchPlace& place) {
  return place.rank == 0 ? owners(place) : std::nullopt;
}
Expected sent_there_and_back(const BenchPlace& place) {
  return place.written(place.rank == 1 ? 0 : place.rank);
}

double whole(int) {
  return 1;
}
double others_share(int ranks) {
  return static_cast<double>(ranks - 1) / ranks;
}
double twice_others_share(int ranks) {
  return 2 * others_share(ranks);
}

BenchOp all_reduce() {
  return {
      .name = "all-reduce",
      .operation = comm::Operation::all_reduce,
      .run = [](Group& group, const BenchArrays& arrays,
                Algorithm algorithm) { group.all_reduce(arrays.values, ReduceOp::sum, algorithm); },
      .settle = nullptr,
      .expected = sum_everywhere,
      .busbw_factor = twice_others_share,
      .reduces = true};
}

BenchOp reduce() {
  return {
      .name = "reduce",
      .operation = comm::Operation::reduce,
      .run = [](Group& group, const BenchArrays& arrays,
                Algorithm algorithm) { group.reduce(arrays.values, ReduceOp::sum, 0, algorithm); },
      .settle = nullptr,
      .expected = sum_on_root,
      .busbw_factor = whole,
      .reduces = true};
}

BenchOp broadcast() {
  return {.name = "broadcast",
          .operation = comm::Operation::broadcast,
          .run = [](Group& group, const BenchArrays& arrays,
                    Algorithm algorithm) { group.broadcast(arrays.values, 0, algorithm); },
          .settle = nullptr,
          .expected = roots,
          .busbw_factor = whole};
}

BenchOp reduce_scatter() {
  return {.name = "reduce-scatter",
          .operation = comm::Operation::reduce_scatter,
          .run =
              [](Group& group, const BenchArrays& arrays, Algorithm algorithm) {
                // Into separate memory: the others read the array until the end.
                group.reduce_scatter(whole_parts(group, arrays.values),
                                     arrays.scratch.slice(0, part_of(group, arrays.values)),
                                     ReduceOp::sum, algorithm);
              },
          .settle = settle_part,
          .expected = sum_of_my_part,
          .busbw_factor = others_share,
          .reduces = true};
}

BenchOp all_gather() {
  return {.name = "all-gather",
          .operation = comm::Operation::all_gather,
          .run =
              [](Group& group, const BenchArrays& arrays, Algorithm algorithm) {
                group.all_gather(my_part(group, arrays.values), whole_parts(group, arrays.values),
                                 algorithm);
              },
          .settle = nullptr,
          .expected = owners,
          .busbw_factor = others_share};
}

BenchOp gather() {
  return {.name = "gather",
          .operation = comm::Operation::gather,
          .run =
              [](Group& group, const BenchArrays& arrays, Algorithm) {
                group.gather(my_part(group, arrays.values), whole_parts(group, arrays.scratch));
              },
          .settle = settle_on_root,
          .expected = owners_on_root,
          .busbw_factor = others_share};
}

BenchOp scatter() {
  return {.name = "scatter",
          .operation = comm::Operation::scatter,
          .run =
              [](Group& group, const BenchArrays& arrays, Algorithm) {
                group.scatter(whole_parts(group, arrays.values),
                              arrays.scratch.slice(0, part_of(group, arrays.values)));
              },
          .settle = settle_part,
          .expected = roots_in_my_part,
          .busbw_factor = others_share};
}

BenchOp barrier() {
  return {.name = "barrier",
          .operation = comm::Operation::barrier,
          .run = [](Group& group, const BenchArrays&, Algorithm) { group.barrier(); },
          .settle = nullptr,
          .expected = [](const BenchPlace&) { return Expected(); },
          .busbw_factor = whole,
          .sized = false};
}

BenchOp send_recv() {
  return {.name = "send-recv",
          .run = ping_pong,
          .settle = nullptr,
          .expected = sent_there_and_back,
          .busbw_factor = whole,
          .share = 0.5};
}

}  // namespace

std::int64_t BenchPlace::sum() const {
  std::int64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += written(rank);
  return sum;
}

int BenchPlace::owner() const {
  const std::size_t part = count / static_cast<std::size_t>(ranks);
  if (part == 0) return ranks;
  return static_cast<int>(std::min(i / part, static_cast<std::size_t>(ranks)));
}

const std::vector<BenchOp>& bench_ops() {
  static const std::vector<BenchOp> ops{all_reduce(),     reduce(),     broadcast(),
                                        reduce_scatter(), all_gather(), gather(),
                                        scatter(),        barrier(),    send_recv()};
  return ops;
}

const BenchOp& bench_op(const std::string& name) {
  const auto& ops = bench_ops();
  const auto found =
      std::find_if(ops.begin(), ops.end(), [&](const BenchOp& op) { return op.name == name; });
  LOCKSTEP_CHECK(found != ops.end(), "unknown operation {}", name);
  return *found;
}

}  // namespace lockstep::internal::cli
