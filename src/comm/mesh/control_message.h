// ControlMessage: what the ranks of a network transport exchange in addition to the data: their
// next collective, the messages they send, that they are waiting, and that they leave. Messages
// travel in frames (base/net/frame.h). Bytes from the network are not trusted: every field is
// checked.
#pragma once

#include "comm/fingerprint.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lockstep::internal::comm {

/// The sender's next collective.
struct Call {
  Fingerprint fingerprint;
};

/// The sender has `bytes` bytes with this tag for the receiver, in this slot of the wire.
struct Announcement {
  std::int32_t tag = 0;
  std::uint32_t slot = 0;
  std::uint64_t bytes = 0;
};

/// The sender has started to receive the messages in these slots, which are free again.
struct Taken {
  std::vector<std::uint32_t> slots;
};

/// The sender leaves the group because of the rank with label `culprit`; -1 for a normal end.
struct Goodbye {
  std::int32_t culprit = -1;
  bool culprit_died = false;
};

/// The sender has waited too long and asks whether the receiver is waiting too; a waiting rank
/// answers.
struct Ask {};
struct Answer {};

using ControlMessage = std::variant<Call, Announcement, Taken, Goodbye, Ask, Answer>;

std::string encode(const ControlMessage& message);

/// Throws Error if the bytes are not a control message.
ControlMessage decode_control_message(std::string_view bytes);

}  // namespace lockstep::internal::comm
