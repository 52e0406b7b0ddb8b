// Who is to blame, and how to say it. The death of one rank makes its peers give up one after
// another; each of them must name the one that died, not the one that gave up just before it. All
// transports say it in the same words, which are here.
#pragma once

#include <lockstep/error.h>

#include "base/deadline.h"

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::comm {

/// A rank that can no longer take part, or whoever made it give up.
struct Loss {
  int rank = -1;          ///< the one to blame, by the number that messages call it
  bool died = false;      ///< rather than left, or came late
  std::string what;       ///< "rank 2 (pid 4711 on host) died"
  std::string last_call;  ///< what it called last, if that is known
};

/// A rank that keeps others waiting.
struct Late {
  int rank = -1;          ///< by the number that messages call it
  std::string who;        ///< "rank 2 (pid 4711 on host)"
  std::string last_call;  ///< what it called last
};

/// A TimeoutError that names a rank which only waits, too: whoever it waits for is not known here.
class WaitsTooError : public TimeoutError {
 public:
  explicit WaitsTooError(const TimeoutError& late) : TimeoutError(late) {}
};

/// Why a rank gives up, which it tells its peers.
struct Blame {
  int rank = -1;  ///< the one to blame, by the number that messages call it; -1 if there is none
  bool died = false;  ///< it is known to have died
};

/// Whom an error blames.
Blame blame_in(const std::exception_ptr& error);

/// The rank that complains, on its transport.
struct Complainer {
  std::string_view transport;
  int label = 0;  ///< the number that messages call it by
};

/// In a collective, a peer is lost.
PeerLostError lost_in_call(const Complainer& me, std::string_view call, const Loss& loss);

/// In a collective, peers did not come before the deadline.
TimeoutError late_in_call(const Complainer& me, std::string_view call,
                          const std::vector<Late>& late, const Deadline& deadline);

/// A message that is waited for: "4000 bytes (tag 0) from", and the peer's number.
struct AwaitedMessage {
  bool incoming = true;
  std::uint64_t bytes = 0;
  std::int32_t tag = 0;
  int peer = 0;         ///< by the number that messages call it
  std::string call;     ///< the collective that it is part of; empty for a message of the user's
  std::string held_up;  ///< which bound keeps it from moving, if one does; for late_message
};
PeerLostError lost_with_message(const Complainer& me, const AwaitedMessage& message,
                                const Loss& loss);

/// `peer` is whom the message is awaited from; `culprit` whoever does not even wait: often the
/// same.
TimeoutError late_message(const Complainer& me, const AwaitedMessage& message, const Late& peer,
                          const Late& culprit, const Deadline& deadline);

/// A message came that is not of the length expected.
MismatchError wrong_length(const Complainer& me, const AwaitedMessage& message, std::uint64_t came);

}  // namespace lockstep::comm
