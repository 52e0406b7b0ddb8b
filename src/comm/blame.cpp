#include "comm/blame.h"

#include "base/text.h"

#include <fmt/format.h>

namespace lockstep::comm {

namespace {

std::string text_of(const AwaitedMessage& message) {
  if (message.incoming) return fmt::format("{} bytes (tag {}) from", message.bytes, message.tag);
  return fmt::format("room to send {} more bytes (tag {}) to", message.bytes, message.tag);
}

}  // namespace

Blame blame_in(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const PeerLostError& lost) {
    return {lost.rank(), lost.died()};
  } catch (const TimeoutError& late) {
    return {late.rank(), false};
  } catch (...) {
  }
  return {};
}

PeerLostError lost_in_call(const Complainer& me, std::string_view call, const Loss& loss) {
  std::string text =
      fmt::format("[{}] rank {} lost a peer in {}: {}", me.transport, me.label, call, loss.what);
  if (!loss.last_call.empty())
    text += fmt::format("; the last call of rank {} was {}", loss.rank, loss.last_call);
  return PeerLostError(loss.rank, text, loss.died);
}

TimeoutError late_in_call(const Complainer& me, std::string_view call,
                          const std::vector<Late>& late, const Deadline& deadline) {
  std::vector<std::string> names;
  for (const Late& one : late)
    names.push_back(fmt::format("{}, whose last call was {}", one.who, one.last_call));
  return TimeoutError(
      fmt::format("[{}] rank {} waited {:.1f} s in {} for {}. Find out what keeps it, or allow a "
                  "longer timeout",
                  me.transport, me.label, deadline.seconds(), call, enumerate(names)),
      late.empty() ? -1 : late.front().rank);
}

PeerLostError lost_with_message(const Complainer& me, const AwaitedMessage& message,
                                const Loss& loss) {
  if (!message.call.empty()) return lost_in_call(me, message.call, loss);
  return PeerLostError(loss.rank,
                       fmt::format("[{}] rank {} waits for {} rank {}, but {}", me.transport,
                                   me.label, text_of(message), message.peer, loss.what),
                       loss.died);
}

TimeoutError late_message(const Complainer& me, const AwaitedMessage& message, const Late& peer,
                          const Late& culprit, const Deadline& deadline) {
  if (!message.call.empty()) return late_in_call(me, message.call, {culprit}, deadline);
  std::string text = fmt::format("[{}] rank {} waited {:.1f} s for {} {}", me.transport, me.label,
                                 deadline.seconds(), text_of(message), peer.who);
  if (culprit.rank != peer.rank)
    text += fmt::format(", which waits too; the one that does not is {}, whose last call was {}",
                        culprit.who, culprit.last_call);
  // The bound is reached by what this rank itself has not received: no peer is to blame.
  if (!message.held_up.empty()) return TimeoutError(text + ": " + message.held_up);
  return TimeoutError(text + ". Find out what keeps it, or allow a longer timeout", culprit.rank);
}

MismatchError wrong_length(const Complainer& me, const AwaitedMessage& message,
                           std::uint64_t came) {
  return MismatchError(fmt::format(
      "[{}] rank {} expected {} bytes from rank {} (tag {}), got {}: sender and receiver must name "
      "the same number of elements and the same type",
      me.transport, me.label, message.bytes, message.peer, message.tag, came));
}

}  // namespace lockstep::comm
