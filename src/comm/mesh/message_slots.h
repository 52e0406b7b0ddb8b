// MessageSlots: the slots of the wire in use by the messages from one rank to another. A slot is
// taken when its message is announced, and freed when its receive has been started. Both ranks keep
// such a table: taking a slot twice, or freeing it twice, is an error.
#pragma once

#include "comm/mesh/wire.h"

#include <optional>
#include <vector>

namespace lockstep::internal::comm {

class MessageSlots {
 public:
  /// Takes a free slot; empty if all are taken.
  std::optional<Slot> take_any();

  /// Both throw Error if the slot already is in that state. REQUIRES: 1 ≤ slot ≤ kMessageSlots.
  void take(Slot slot);
  void give_back(Slot slot);

  std::size_t taken() const { return taken_count_; }

 private:
  std::vector<bool> taken_;  ///< by slot; as long as the highest slot used so far needs
  std::size_t taken_count_ = 0;
  Slot last_ = 0;  ///< the last slot that take_any took
};

}  // namespace lockstep::internal::comm
