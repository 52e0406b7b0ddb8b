#include "comm/mesh/message_matcher.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep::internal::comm {

namespace {

bool is_over(MeshRequest& request) {
  try {
    return !request.transfer || request.transfer->done();
  } catch (const Error&) {  // no thread waits for the request, so the error cannot be reported
    return true;
  }
}

/// The owner may free the array before it destroys the request.
void give_up(MeshRequest& request) {
  if (request.matched && request.transfer) request.transfer->give_up();
}

}  // namespace

MessageMatcher::MessageMatcher(int size)
    : incoming_(static_cast<std::size_t>(size)), outgoing_(static_cast<std::size_t>(size)) {}

void MessageMatcher::use(Wire& wire) {
  Lock lock(mutex_);
  wire_ = &wire;
}

// ── Sends

std::optional<Slot> MessageMatcher::post(const std::shared_ptr<MeshRequest>& request) {
  Lock lock(mutex_);
  Outgoing& outgoing = outgoing_[static_cast<std::size_t>(request->peer)];
  // A send never overtakes sends that wait for a slot.
  const auto slot = outgoing.queue.empty() ? outgoing.slots.take_any() : std::nullopt;
  request->matched = slot.has_value();
  if (!slot) outgoing.queue.push_back(request);
  return slot;
}

/// The peer has acknowledged messages: sends that waited for a slot are started in order.
std::vector<ControlMessage> MessageMatcher::send_queued(int to, const Taken& taken) {
  Lock lock(mutex_);
  Outgoing& outgoing = outgoing_[static_cast<std::size_t>(to)];
  for (Slot slot : taken.slots) outgoing.slots.give_back(slot);
  std::vector<ControlMessage> announcements;
  while (!outgoing.queue.empty()) {
    const auto slot = outgoing.slots.take_any();
    if (!slot) break;
    announcements.emplace_back(dispatch(*outgoing.queue.front(), *slot));
    outgoing.queue.pop_front();
  }
  changed_.notify_all();
  return announcements;
}

Announcement MessageMatcher::dispatch(MeshRequest& request, Slot slot) {
  try {
    if (request.bytes > 0) request.transfer = wire_->send(request.peer, slot, request.source);
  } catch (const Error& error) {  // reported to the thread that waits for it
    request.broken = error.what();
  }
  request.matched = true;
  return {request.tag, slot, request.bytes};
}

// ── Receives

std::optional<Taken> MessageMatcher::want(const std::shared_ptr<MeshRequest>& request) {
  Lock lock(mutex_);
  Incoming& incoming = incoming_[static_cast<std::size_t>(request->peer)];
  const auto found = std::find_if(incoming.announced.begin(), incoming.announced.end(),
                                  [&](const Announcement& one) { return one.tag == request->tag; });
  if (found == incoming.announced.end()) {
    incoming.wanted.push_back(request);
    return std::nullopt;
  }
  const bool emptied = match(*request, *found);
  const Slot slot = found->slot;
  incoming.announced.erase(found);
  if (emptied) free_slot(incoming, slot);
  return to_tell(incoming);
}

std::vector<ControlMessage> MessageMatcher::take(int from, const ControlMessage& message) {
  if (const auto* taken = std::get_if<Taken>(&message)) return send_queued(from, *taken);
  return take_announcement(from, std::get<Announcement>(message));
}

std::vector<ControlMessage> MessageMatcher::take_announcement(int from,
                                                              const Announcement& announcement) {
  Lock lock(mutex_);
  if (wire_ == nullptr) throw Error("a message before the group was made");
  Incoming& incoming = incoming_[static_cast<std::size_t>(from)];
  incoming.slots.take(announcement.slot);
  const auto found = std::find_if(incoming.wanted.begin(), incoming.wanted.end(),
                                  [&](const auto& one) { return one->tag == announcement.tag; });
  if (found == incoming.wanted.end()) {
    incoming.announced.push_back(announcement);
  } else {
    if (match(**found, announcement)) free_slot(incoming, announcement.slot);
    incoming.wanted.erase(found);
    changed_.notify_all();
  }
  std::vector<ControlMessage> answers;
  if (auto taken = to_tell(incoming)) answers.emplace_back(std::move(*taken));
  return answers;
}

bool MessageMatcher::match(MeshRequest& request, const Announcement& announcement) {
  request.came = announcement.bytes;
  request.matched = true;
  if (announcement.bytes != request.bytes) return false;
  if (request.bytes == 0) return true;
  try {
    request.transfer = wire_->receive(request.peer, announcement.slot, request.target);
    return true;
  } catch (const Error& error) {  // reported to the thread that waits for it
    request.broken = error.what();
    return false;
  }
}

void MessageMatcher::free_slot(Incoming& incoming, Slot slot) {
  incoming.slots.give_back(slot);
  incoming.untold.push_back(slot);
}

std::optional<Taken> MessageMatcher::to_tell(Incoming& incoming) {
  // The sender counts these slots as taken too. If all are taken, its messages wait for this
  // acknowledgement, and their receiver may wait for another message of the sender.
  const bool none_left = incoming.slots.taken() + incoming.untold.size() >= kMessageSlots;
  if (incoming.untold.empty() || (incoming.untold.size() < kTellTaken && !none_left))
    return std::nullopt;
  return Taken{std::exchange(incoming.untold, {})};
}

// ── Both

bool MessageMatcher::wait_until_matched(MeshRequest& request, std::chrono::milliseconds slice) {
  Lock lock(mutex_);
  if (!request.matched) changed_.wait_for(mutex_, slice);
  return request.matched;
}

bool MessageMatcher::matched(MeshRequest& request) {
  Lock lock(mutex_);
  return request.matched;
}

std::string MessageMatcher::held_up(MeshRequest& request) {
  Lock lock(mutex_);
  if (!request.incoming) {
    const Outgoing& outgoing = outgoing_[static_cast<std::size_t>(request.peer)];
    if (outgoing.queue.empty()) return "";
    return fmt::format(
        "it has not received {} {}, which is the limit: receive them, in any order, or send fewer "
        "at a time",
        outgoing.slots.taken(),
        request.matched ? "messages, of which this is one" : "earlier messages");
  }
  const std::size_t waiting = incoming_[static_cast<std::size_t>(request.peer)].slots.taken();
  if (request.matched || waiting < kMessageSlots) return "";
  return fmt::format(
      "{} messages with other tags came from it and were not received, which is the limit: "
      "receive them first",
      waiting);
}

bool MessageMatcher::expects_messages() {
  Lock lock(mutex_);
  return std::any_of(incoming_.begin(), incoming_.end(),
                     [](const Incoming& one) { return !one.wanted.empty(); }) ||
         std::any_of(outgoing_.begin(), outgoing_.end(),
                     [](const Outgoing& one) { return !one.queue.empty(); });
}

void MessageMatcher::keep(std::shared_ptr<MeshRequest> request) {
  Lock lock(mutex_);
  if (dropped_) return give_up(*request);
  kept_.push_back(std::move(request));
  // Only now and then, so that each new message does not check all pending ones.
  if (kept_.size() < tidy_at_) return;
  kept_.remove_if(
      [](const auto& one) { return one.use_count() == 1 && one->matched && is_over(*one); });
  tidy_at_ = 2 * kept_.size() + kTidyAt;
}

void MessageMatcher::drop_all() {
  Lock lock(mutex_);
  dropped_ = true;
  for (const auto& one : kept_) give_up(*one);
  kept_.clear();
  for (Incoming& one : incoming_) one.wanted.clear();
  for (Outgoing& one : outgoing_) one.queue.clear();
  changed_.notify_all();
}

}  // namespace lockstep::internal::comm
