// ControlMessage: what ranks of a network transport tell each other beside the data: what they are
// about to do, which messages they send, whether they are alive, and that they leave. Travels in
// frames (base/frame.h). What comes from the network is not trusted: every field is checked.
#pragma once

#include "comm/fingerprint.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lockstep::comm {

/// The sender has come to its next collective.
struct Call {
  Fingerprint fingerprint;
};

/// The sender has `bytes` bytes with this tag for the receiver, waiting in this slot of the wire.
struct Announcement {
  std::int32_t tag = 0;
  std::uint32_t slot = 0;
  std::uint64_t bytes = 0;
};

/// The sender has started to receive the messages in these slots: the slots are free again.
struct Taken {
  std::vector<std::uint32_t> slots;
};

/// The sender leaves the group, because of the rank that messages call `culprit`; -1 if of its own
/// accord.
struct Goodbye {
  std::int32_t culprit = -1;
  bool culprit_died = false;
};

/// The sender's patience is at its end: a rank that waits, too, answers.
struct Ask {};
struct Answer {};

using ControlMessage = std::variant<Call, Announcement, Taken, Goodbye, Ask, Answer>;

std::string encode(const ControlMessage& message);

/// Throws Error if the bytes are not a message.
ControlMessage decode_control_message(std::string_view bytes);

}  // namespace lockstep::comm
