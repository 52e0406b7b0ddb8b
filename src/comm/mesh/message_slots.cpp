#include "comm/mesh/message_slots.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::comm {

std::optional<Slot> MessageSlots::take_any() {
  if (taken_count_ == kMessageSlots) return std::nullopt;
  // Slots are used in turn: the next one has usually been free for long.
  do last_ = last_ % kMessageSlots + 1;
  while (last_ < taken_.size() && taken_[last_]);
  take(last_);
  return last_;
}

void MessageSlots::take(Slot slot) {
  if (taken_.size() <= slot) taken_.resize(std::max<std::size_t>(slot + 1, 2 * taken_.size()));
  if (taken_[slot]) throw Error(fmt::format("two messages in slot {} at the same time", slot));
  taken_[slot] = true;
  ++taken_count_;
}

void MessageSlots::give_back(Slot slot) {
  if (slot >= taken_.size() || !taken_[slot])
    throw Error(fmt::format("slot {} was freed without a message in it", slot));
  taken_[slot] = false;
  --taken_count_;
}

}  // namespace lockstep::internal::comm
