// Failure attribution: which rank caused a failure, and the error messages that name it. When one
// rank dies, its peers give up one after another; each error must name the rank that died, not the
// one that gave up just before. All transports use these messages.
#pragma once

#include <lockstep/error.h>

#include "base/deadline.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::comm {

/// How long a rank may keep others waiting before they ask the launcher about it.
constexpr std::chrono::milliseconds kLookAfter{1000};

/// A rank that is gone, or the rank that made it give up.
struct LostRank {
  int rank = -1;      ///< the rank that caused the failure, by its number in messages (its label)
  bool died = false;  ///< true: its process ended; false: it left the group or was late
  std::string what;   ///< "rank 2 (pid 4711 on host) died"
  std::string last_call;  ///< its last collective; empty if unknown
};

/// A rank that keeps others waiting.
struct LateRank {
  int rank = -1;          ///< by its number in messages (its label)
  std::string name;       ///< "rank 2 (pid 4711 on host)"
  std::string last_call;  ///< its last collective
};

/// A TimeoutError that names a rank which is itself waiting; the rank that it waits for is unknown
/// here.
class WaitsTooError : public TimeoutError {
 public:
  explicit WaitsTooError(const TimeoutError& late) : TimeoutError(late) {}
};

/// The reason a rank gives up; it sends this to its peers.
struct Culprit {
  int rank = -1;      ///< the rank that caused the failure, by its label; -1 if there is none
  bool died = false;  ///< the rank is known to have died
};

/// The rank that an error names as its cause.
Culprit culprit_in(const std::exception_ptr& error);

/// The rank that reports the error, and its transport.
struct ReportingRank {
  std::string_view transport;
  int label = 0;  ///< its number in messages
};

/// Error of a collective that lost a peer.
PeerLostError lost_in_call(const ReportingRank& me, std::string_view call, const LostRank& lost);

/// Error of a collective in which peers did not arrive before the deadline.
TimeoutError late_in_call(const ReportingRank& me, std::string_view call,
                          const std::vector<LateRank>& late, const Deadline& deadline);

/// A message that a rank waits for: "4000 bytes (tag 0) from", and the peer's number.
struct AwaitedMessage {
  bool incoming = true;
  std::uint64_t bytes = 0;
  std::int32_t tag = 0;
  int peer = 0;         ///< by its label
  std::string call;     ///< the collective it belongs to; empty for a message of the user
  std::string held_up;  ///< the limit that blocks the message, if any; used by late_message
};
PeerLostError lost_with_message(const ReportingRank& me, const AwaitedMessage& message,
                                const LostRank& lost);

/// `peer` is the rank at the other end of the message. `culprit` is the rank that is not waiting
/// itself; often both are the same.
TimeoutError late_message(const ReportingRank& me, const AwaitedMessage& message,
                          const LateRank& peer, const LateRank& culprit, const Deadline& deadline);

/// Error for a message whose length differs from the expected one.
MismatchError wrong_length(const ReportingRank& me, const AwaitedMessage& message,
                           std::uint64_t came);

}  // namespace lockstep::internal::comm
