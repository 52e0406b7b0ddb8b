// What an optimizer remembers, put together from all ranks' shares of it, and taken apart again:
// for checkpoints, which do not depend on who updates what.
#pragma once

#include "sync/sync_method.h"

namespace lockstep::sync {

/// One value for each weight, laid out like the flat array.
struct WholeState {
  std::string name;  ///< "momentum"
  DataType type = DataType::float32;
  std::vector<std::byte> values;

  ArrayView view() { return {values.data(), values.size() / size_of(type), type}; }
};

/// A collective. On rank 0 all that the optimizer remembers, of which this rank's optimizer may
/// have but a share; nothing elsewhere.
std::vector<WholeState> gather_state(Group& group, const SyncMethod& method,
                                     optim::Optimizer& optimizer, const Layout& layout);

/// All that this rank's optimizer remembers, where that is all there is. No collective.
std::vector<WholeState> own_state(optim::Optimizer& optimizer);

/// What this rank's optimizer may have of `whole`, copied to `mine`.
void take_share(const Group& group, const SyncMethod& method, ConstArrayView whole, ArrayView mine);

}  // namespace lockstep::sync
