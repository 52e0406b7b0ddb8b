#include "comm/failure_attribution.h"

#include "base/text.h"

#include <fmt/format.h>

namespace lockstep::internal::comm {

namespace {

std::string text_of(const AwaitedMessage& message) {
  if (message.incoming) return fmt::format("{} bytes (tag {}) from", message.bytes, message.tag);
  return fmt::format("space to send {} more bytes (tag {}) to", message.bytes, message.tag);
}

}  // namespace

Culprit culprit_in(const std::exception_ptr& error) {
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

PeerLostError lost_in_call(const ReportingRank& me, std::string_view call, const LostRank& lost) {
  std::string text =
      fmt::format("[{}] rank {} lost a peer in {}: {}", me.transport, me.label, call, lost.what);
  if (!lost.last_call.empty())
    text += fmt::format("; the last call of rank {} was {}", lost.rank, lost.last_call);
  return PeerLostError(lost.rank, text, lost.died);
}

TimeoutError late_in_call(const ReportingRank& me, std::string_view call,
                          const std::vector<LateRank>& late, const Deadline& deadline) {
  std::vector<std::string> names;
  for (const LateRank& one : late)
    names.push_back(fmt::format("{}, whose last call was {}", one.name, one.last_call));
  return TimeoutError(
      fmt::format("[{}] rank {} waited {:.1f} s in {} for {}. Find out why it is late, or raise "
                  "the timeout",
                  me.transport, me.label, deadline.seconds(), call, enumerate(names)),
      late.empty() ? -1 : late.front().rank);
}

PeerLostError lost_with_message(const ReportingRank& me, const AwaitedMessage& message,
                                const LostRank& lost) {
  if (!message.call.empty()) return lost_in_call(me, message.call, lost);
  return PeerLostError(lost.rank,
                       fmt::format("[{}] rank {} waits for {} rank {}, but {}", me.transport,
                                   me.label, text_of(message), message.peer, lost.what),
                       lost.died);
}

TimeoutError late_message(const ReportingRank& me, const AwaitedMessage& message,
                          const LateRank& peer, const LateRank& culprit, const Deadline& deadline) {
  if (!message.call.empty()) return late_in_call(me, message.call, {culprit}, deadline);
  std::string text = fmt::format("[{}] rank {} waited {:.1f} s for {} {}", me.transport, me.label,
                                 deadline.seconds(), text_of(message), peer.name);
  if (culprit.rank != peer.rank)
    text += fmt::format(
        ", which is itself waiting; the rank that is not waiting is {}, whose last call was {}",
        culprit.name, culprit.last_call);
  // The limit was reached because this rank itself has not received messages: no peer caused it.
  if (!message.held_up.empty()) return TimeoutError(text + ": " + message.held_up);
  return TimeoutError(text + ". Find out why it is late, or raise the timeout", culprit.rank);
}

MismatchError wrong_length(const ReportingRank& me, const AwaitedMessage& message,
                           std::uint64_t came) {
  return MismatchError(fmt::format(
      "[{}] rank {} expected {} bytes from rank {} (tag {}), got {}: sender and receiver must name "
      "the same number of elements and the same type",
      me.transport, me.label, message.bytes, message.peer, message.tag, came));
}

}  // namespace lockstep::internal::comm
