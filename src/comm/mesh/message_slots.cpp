#include "comm/mesh/message_slots.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::comm {

std::optional<Slot> MessageSlots::take_any() {
  if (taken_count_ == kMessageSlots) return std::nullopt;
  // Each in turn: usually the next one has long been free.
  do last_ = last_ % kMessageSlots + 1;
  while (last_ < taken_.size() && taken_[last_]);
  take(last_);
  return last_;
}

void MessageSlots::take(Slot slot) {
  if (taken_.size() <= slot) taken_.resize(std::max<std::size_t>(slot + 1, 2 * taken_.size()));
  if (taken_[slot]) throw Error(fmt::format("two messages in slot {} at once", slot));
  taken_[slot] = true;
  ++taken_count_;
}

void MessageSlots::give_back(Slot slot) {
  if (slot >= taken_.size() || !taken_[slot])
    throw Error(fmt::format("a message in slot {} that was never sent", slot));
  taken_[slot] = false;
  --taken_count_;
}

}  // namespace lockstep::comm
