// MessageSlots: which slots of the wire the messages from one rank to another have. A slot is taken
// when its message is announced and free again when its receive has been started. Both ranks keep
// such a table, and compare: a slot that is taken twice, or freed twice, is an error.
#pragma once

#include "comm/mesh/wire.h"

#include <optional>
#include <vector>

namespace lockstep::comm {

class MessageSlots {
 public:
  /// A free slot, which it takes; nothing if all are taken.
  std::optional<Slot> take_any();

  /// Both throw Error if the slot is taken, or free, already. REQUIRES: 1 ≤ slot ≤ kMessageSlots.
  void take(Slot slot);
  void give_back(Slot slot);

  std::size_t taken() const { return taken_count_; }

 private:
  std::vector<bool> taken_;  ///< by slot; as long as the highest one so far needs
  std::size_t taken_count_ = 0;
  Slot last_ = 0;  ///< that take_any took
};

}  // namespace lockstep::comm
