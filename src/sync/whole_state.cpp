#include "sync/whole_state.h"

#include "base/bytes.h"

namespace lockstep::internal::sync {

namespace {

constexpr int kStateTag = 2;

std::size_t length_of(const std::vector<Slot>& runs) {
  std::size_t length = 0;
  for (const Slot& run : runs) length += run.count;
  return length;
}

/// Copies a slice, whose runs lie one after another, to its positions in `whole`.
void put(const std::vector<Slot>& runs, ConstArrayView slice, ArrayView whole) {
  std::size_t begin = 0;
  for (const Slot& run : runs) {
    const ArrayView to = whole.slice(run.begin, run.count);
    copy_bytes(to.data, slice.slice(begin, run.count).data, to.bytes());
    begin += run.count;
  }
}

/// On rank 0: receives all ranks' slices of one kind of state.
void collect(Group& group, const SyncMethod& method, ConstArrayView mine, ArrayView whole) {
  put(method.runs_of(0), mine, whole);
  for (int rank = 1; rank < group.size(); ++rank) {
    const std::vector<Slot> runs = method.runs_of(rank);
    std::vector<std::byte> bytes(length_of(runs) * size_of(whole.type));
    if (bytes.empty()) continue;
    const ArrayView slice(bytes.data(), length_of(runs), whole.type);
    group.recv(slice, rank, kStateTag);
    put(runs, slice, whole);
  }
}

}  // namespace

std::vector<WholeState> gather_state(Group& group, const SyncMethod& method,
                                     optim::Optimizer& optimizer, const Layout& layout) {
  if (!method.owned_slice())
    return group.rank() == 0 ? own_state(optimizer) : std::vector<WholeState>{};
  std::vector<WholeState> all;
  for (const optim::OptimizerState& state : optimizer.state()) {
    if (group.rank() != 0) {
      if (state.values.count > 0) group.send(state.values, 0, kStateTag);
      continue;
    }
    all.push_back({state.name, state.values.type, std::vector<std::byte>(layout.bytes())});
    collect(group, method, state.values, all.back().view());
  }
  return all;
}

std::vector<WholeState> own_state(optim::Optimizer& optimizer) {
  std::vector<WholeState> all;
  for (const optim::OptimizerState& state : optimizer.state()) {
    all.push_back({state.name, state.values.type, std::vector<std::byte>(state.values.bytes())});
    copy_bytes(all.back().values.data(), state.values.data, state.values.bytes());
  }
  return all;
}

void take_slice(const Group& group, const SyncMethod& method, ConstArrayView whole,
                ArrayView mine) {
  if (!method.owned_slice()) return copy_bytes(mine.data, whole.data, mine.bytes());
  std::size_t begin = 0;
  for (const Slot& run : method.runs_of(group.rank())) {
    const ArrayView to = mine.slice(begin, run.count);
    copy_bytes(to.data, whole.slice(run.begin, run.count).data, to.bytes());
    begin += run.count;
  }
}

}  // namespace lockstep::internal::sync
