// Assembles the state of an optimizer from all ranks' slices, and splits it again: for checkpoints,
// which do not depend on the assignment of weights to ranks.
#pragma once

#include "sync/sync_method.h"

namespace lockstep::internal::sync {

/// One value for each weight, laid out like the flat array.
struct WholeState {
  std::string name;  ///< for example "momentum"
  DataType type = DataType::float32;
  std::vector<std::byte> values;

  ArrayView view() { return {values.data(), values.size() / size_of(type), type}; }
};

/// A collective. Returns, on rank 0, the optimizer's whole state, of which this rank's optimizer
/// may hold only a slice. Empty on other ranks.
std::vector<WholeState> gather_state(Group& group, const SyncMethod& method,
                                     optim::Optimizer& optimizer, const Layout& layout);

/// The state of this rank's optimizer, if it is the whole state. Not a collective.
std::vector<WholeState> own_state(optim::Optimizer& optimizer);

/// Copies this rank's slice of `whole` to `mine`.
void take_slice(const Group& group, const SyncMethod& method, ConstArrayView whole, ArrayView mine);

}  // namespace lockstep::internal::sync
