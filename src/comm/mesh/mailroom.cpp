#include "comm/mesh/mailroom.h"

#include <lockstep/error.h>

#include <algorithm>

namespace lockstep::comm {

namespace {

bool is_over(MeshRequest& request) {
  try {
    return !request.transfer || request.transfer->done();
  } catch (const Error&) {  // nobody waits for it, so nobody is told
    return true;
  }
}

}  // namespace

Mailroom::Mailroom(Wire& wire, int size)
    : wire_(wire),
      senders_(static_cast<std::size_t>(size)),
      sent_(static_cast<std::size_t>(size)) {}

Slot Mailroom::next_slot(int to) {
  Lock lock(mutex_);
  return 1 + sent_[static_cast<std::size_t>(to)]++ % kMessageSlots;
}

void Mailroom::want(const std::shared_ptr<MeshRequest>& request) {
  Lock lock(mutex_);
  Sender& sender = senders_[static_cast<std::size_t>(request->peer)];
  const auto found = std::find_if(sender.announced.begin(), sender.announced.end(),
                                  [&](const Announcement& one) { return one.tag == request->tag; });
  if (found == sender.announced.end()) return sender.wanted.push_back(request);
  match(*request, *found);
  sender.announced.erase(found);
}

void Mailroom::take(int from, const Announcement& announcement) {
  Lock lock(mutex_);
  Sender& sender = senders_[static_cast<std::size_t>(from)];
  const auto found = std::find_if(sender.wanted.begin(), sender.wanted.end(),
                                  [&](const auto& one) { return one->tag == announcement.tag; });
  if (found == sender.wanted.end()) return sender.announced.push_back(announcement);
  match(**found, announcement);
  sender.wanted.erase(found);
  changed_.notify_all();
}

void Mailroom::match(MeshRequest& request, const Announcement& announcement) {
  request.came = announcement.bytes;
  request.matched = true;
  if (announcement.bytes != request.bytes || request.bytes == 0) return;
  try {
    request.transfer = wire_.receive(request.peer, announcement.slot, request.target);
  } catch (const Error& error) {  // told to whoever waits for it
    request.broken = error.what();
  }
}

bool Mailroom::wait_until_matched(MeshRequest& request, std::chrono::milliseconds slice) {
  Lock lock(mutex_);
  if (!request.matched) changed_.wait_for(mutex_, slice);
  return request.matched;
}

bool Mailroom::matched(MeshRequest& request) {
  Lock lock(mutex_);
  return request.matched;
}

bool Mailroom::expects_announcements() {
  Lock lock(mutex_);
  return std::any_of(senders_.begin(), senders_.end(),
                     [](const Sender& sender) { return !sender.wanted.empty(); });
}

void Mailroom::keep(std::shared_ptr<MeshRequest> request) {
  Lock lock(mutex_);
  kept_.push_back(std::move(request));
  // Now and then, so that many messages under way are not all looked at for each new one.
  if (kept_.size() < tidy_at_) return;
  kept_.remove_if([](const auto& one) {
    return one.use_count() == 1 && (!one->incoming || one->matched) && is_over(*one);
  });
  tidy_at_ = 2 * kept_.size() + kTidyAt;
}

void Mailroom::drop_all() {
  Lock lock(mutex_);
  kept_.clear();
  for (Sender& sender : senders_) sender.wanted.clear();
  changed_.notify_all();
}

}  // namespace lockstep::comm
