#include "comm/shared/messenger.h"

#include "comm/shared/lost_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep::internal::comm {

namespace {

struct MessageHeader {
  std::int64_t tag;
  std::uint64_t length;
};

MessageHeader next_header(const Channel& channel) {
  MessageHeader header{};
  peek(channel, std::as_writable_bytes(std::span(&header, 1)));
  return header;
}

Traffic traffic_of(std::int32_t tag) {
  return tag == kCollectiveTag ? Traffic::collective : Traffic::user;
}

}  // namespace

/// One outgoing or incoming message.
struct Messenger::Message : Request {
  explicit Message(Messenger& messenger) : messenger(messenger) {}
  /// A message of a collective is owned by the collective alone: if an exception ends the
  /// collective, the memory of the message is destroyed next. A message of the user is also owned
  /// by the queues.
  ~Message() override {
    if (tag == kCollectiveTag && !done) messenger.give_up();
  }

  Messenger& messenger;
  int peer = 0;
  std::int32_t tag = 0;
  const Purpose purpose = current_purpose;
  bool incoming = false;
  bool header_sent = false;
  std::span<const std::byte> source;  ///< bytes still to be sent
  std::span<std::byte> target;        ///< destination of a receive
  std::atomic<bool> done{false};
};

/// Messages from one rank.
struct Messenger::Inbox {
  /// A message that arrived before its receive was started.
  struct SetAside {
    std::int32_t tag = 0;
    std::vector<std::byte> bytes;
    std::size_t cost() const { return sizeof(SetAside) + bytes.size(); }
  };

  /// Receives, in the order in which they were started.
  std::list<std::shared_ptr<Message>> wanted;
  std::deque<SetAside> set_aside;
  std::size_t set_aside_bytes = 0;  ///< total size of the complete ones

  auto find_wanted(std::int64_t tag) {
    return std::find_if(wanted.begin(), wanted.end(),
                        [&](const auto& message) { return message->tag == tag; });
  }

  // The message being read, if open. Its bytes go to `receiver`, or to the end of set_aside if
  // there is none.
  bool open = false;
  std::size_t missing = 0;  ///< bytes still to arrive
  std::size_t arrived = 0;
  std::shared_ptr<Message> receiver;

  /// The destination of the next bytes of the open message, of which `available` can be read.
  /// Buffered messages grow with the bytes that have arrived, not with the length in the header.
  std::span<std::byte> room(std::size_t available) {
    if (receiver) return receiver->target.subspan(arrived);
    auto& bytes = set_aside.back().bytes;
    bytes.resize(arrived + std::min(missing, available));
    return std::span(bytes).subspan(arrived);
  }
};

Messenger::Messenger(const SharedSpace& space, int rank)
    : space_(space),
      group_memory_(space.group_memory()),
      rank_(rank),
      spins_(spins_for(group_memory_.size())),
      outgoing_(line_of(group_memory_.size(), Traffic::user)) {
  for (std::size_t line = 0; line < outgoing_.size(); ++line)
    inboxes_.push_back(std::make_unique<Inbox>());
}

Messenger::~Messenger() {
  Lock lock(mutex_);
  drop_all();
}

std::size_t Messenger::line_of(const Message& message) {
  return line_of(message.peer, traffic_of(message.tag));
}

Channel& Messenger::channel_to(std::size_t line) const {
  return group_memory_.channel(rank_, peer_on(line), static_cast<Traffic>(line % kTraffics));
}

Channel& Messenger::channel_from(std::size_t line) const {
  return group_memory_.channel(peer_on(line), rank_, static_cast<Traffic>(line % kTraffics));
}

/// For the queues, which own the user's messages but not those of collectives.
template <typename Message>
static std::shared_ptr<Message> for_queue(const std::shared_ptr<Message>& message) {
  if (message->tag != kCollectiveTag) return message;
  return {std::shared_ptr<void>(), message.get()};
}

std::shared_ptr<Request> Messenger::start_send(int to, std::int32_t tag,
                                               std::span<const std::byte> data) {
  auto message = std::make_shared<Message>(*this);
  message->peer = to;
  message->tag = tag;
  message->source = data;
  Lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  outgoing_[line_of(*message)].push_back(for_queue(message));
  if (!stopped_) push(line_of(*message));
  return message;
}

std::shared_ptr<Request> Messenger::start_recv(int from, std::int32_t tag,
                                               std::span<std::byte> data) {
  auto message = std::make_shared<Message>(*this);
  message->peer = from;
  message->tag = tag;
  message->incoming = true;
  message->target = data;
  Lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  Inbox& inbox = *inboxes_[line_of(*message)];
  fill_from_set_aside(inbox, message);
  if (!message->done) inbox.wanted.push_back(for_queue(message));
  return message;
}

bool Messenger::done(Request& request) {
  auto& message = static_cast<Message&>(request);
  if (finished(message)) return true;
  look_around(message, Deadline::after(std::chrono::hours(1)));
  return false;
}

void Messenger::wait(Request& request, const Deadline& deadline) {
  auto& message = static_cast<Message&>(request);
  group_memory_.rank_state(rank_).messages.wait(
      spins_, [&] { return finished(message); }, [&] { look_around(message, deadline); });
}

bool Messenger::move() {
  Lock lock(mutex_);
  if (stopped_) return false;
  progress();
  return std::any_of(outgoing_.begin(), outgoing_.end(),
                     [](const auto& queue) { return !queue.empty(); });
}

void Messenger::ring_all() const {
  for (int peer = 0; peer < group_memory_.size(); ++peer)
    group_memory_.rank_state(peer).messages.notify();
}

/// Advances all messages, then tells whether this one is done.
bool Messenger::finished(Message& message) {
  if (message.done.load(std::memory_order_acquire)) return true;
  bool moved = false;
  {
    Lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    moved = !stopped_ && progress();
  }
  // Another thread of this rank may sleep on a message that was just advanced.
  if (moved) group_memory_.rank_state(rank_).messages.notify();
  return message.done.load(std::memory_order_acquire);
}

bool Messenger::progress() {
  bool moved = false;
  for (std::size_t line = 0; line < outgoing_.size(); ++line) {
    moved |= push(line);
    moved |= pull(line);
  }
  return moved;
}

bool Messenger::push(std::size_t line) {
  auto& queue = outgoing_[line];
  if (queue.empty()) return false;
  Channel& channel = channel_to(line);
  bool moved = false;
  while (!queue.empty()) {
    Message& message = *queue.front();
    if (!message.header_sent) {
      const MessageHeader header{message.tag, message.source.size()};
      if (Channel::kCapacity - used(channel) < sizeof header) break;
      write_some(channel, std::as_bytes(std::span(&header, 1)));
      message.header_sent = true;
      moved = true;
    }
    const std::size_t amount = write_some(channel, message.source);
    moved |= amount > 0;
    sent_.add(amount, message.purpose);
    message.source = message.source.subspan(amount);
    if (!message.source.empty()) break;
    const auto sent = std::move(queue.front());
    queue.pop_front();
    sent->done.store(
        true, std::memory_order_release);  // last, because the owner may destroy it after this
  }
  if (moved) group_memory_.rank_state(peer_on(line)).messages.notify();
  return moved;
}

bool Messenger::pull(std::size_t line) {
  Inbox& inbox = *inboxes_[line];
  if (!inbox.open && inbox.wanted.empty()) return false;
  Channel& channel = channel_from(line);
  bool moved = false;
  while (inbox.open || can_open(line)) {
    if (!inbox.open) {
      open_message(line);
      moved = true;
    }
    const std::size_t amount = read_some(channel, inbox.room(used(channel)));
    inbox.arrived += amount;
    inbox.missing -= amount;
    moved |= amount > 0;
    if (inbox.missing > 0) break;
    close_message(line);
  }
  if (moved) group_memory_.rank_state(peer_on(line)).messages.notify();
  return moved;
}

/// Otherwise the channel fills up and blocks the sender: this is the flow control.
bool Messenger::can_open(std::size_t line) {
  Inbox& inbox = *inboxes_[line];
  const Channel& channel = channel_from(line);
  if (inbox.wanted.empty() || used(channel) < sizeof(MessageHeader)) return false;
  return inbox.set_aside_bytes < kMostSetAside ||
         inbox.find_wanted(next_header(channel).tag) != inbox.wanted.end();
}

void Messenger::open_message(std::size_t line) {
  Inbox& inbox = *inboxes_[line];
  MessageHeader header{};
  read_some(channel_from(line), std::as_writable_bytes(std::span(&header, 1)));
  const auto match = inbox.find_wanted(header.tag);
  if (match != inbox.wanted.end()) require_length(**match, header.length);
  inbox.open = true;
  inbox.arrived = 0;
  inbox.missing = header.length;
  inbox.receiver = nullptr;
  if (match == inbox.wanted.end()) {
    inbox.set_aside.push_back({static_cast<std::int32_t>(header.tag), {}});
    return;
  }
  inbox.receiver = *match;
  inbox.wanted.erase(match);
}

void Messenger::close_message(std::size_t line) {
  Inbox& inbox = *inboxes_[line];
  inbox.open = false;
  if (const auto receiver = std::exchange(inbox.receiver, nullptr)) {
    receiver->done.store(true, std::memory_order_release);
    return;
  }
  inbox.set_aside_bytes += inbox.set_aside.back().cost();
  // A receive for it may have been started while it was arriving.
  const auto match = inbox.find_wanted(inbox.set_aside.back().tag);
  if (match == inbox.wanted.end()) return;
  const auto wanted = *match;
  inbox.wanted.erase(match);
  fill_from_set_aside(inbox, wanted);
}

void Messenger::fill_from_set_aside(Inbox& inbox, const std::shared_ptr<Message>& wanted) {
  auto match = std::find_if(inbox.set_aside.begin(), inbox.set_aside.end(),
                            [&](const auto& message) { return message.tag == wanted->tag; });
  if (match == inbox.set_aside.end()) return;
  // The last one may still be arriving; then close_message handles it.
  const bool coming = inbox.open && !inbox.receiver && &*match == &inbox.set_aside.back();
  if (coming) return;
  require_length(*wanted, match->bytes.size());
  std::copy(match->bytes.begin(), match->bytes.end(), wanted->target.begin());
  inbox.set_aside_bytes -= match->cost();
  inbox.set_aside.erase(match);
  wanted->done.store(true, std::memory_order_release);
}

void Messenger::require_length(const Message& wanted, std::uint64_t came) const {
  if (wanted.target.size() != came)
    throw wrong_length({space_.name(), group_memory_.label(rank_)}, awaited_of(wanted), came);
}

AwaitedMessage Messenger::awaited_of(const Message& message) const {
  return {message.incoming,
          message.incoming ? message.target.size() : message.source.size(),
          message.tag,
          group_memory_.label(message.peer),
          message.tag < 0 ? group_memory_.rank_state(rank_).last_call() : "",
          ""};
}

void Messenger::look_around(const Message& message, const Deadline& deadline) {
  show_waiting(group_memory_, rank_);
  if (tick_) tick_(message.tag == kCollectiveTag);
  const auto lost = find_lost_rank(space_, message.peer);
  if (!lost && !deadline.passed()) return;
  Lock lock(mutex_);
  // Data that a rank sent before it ended still counts, and another thread may just have received
  // it.
  AwaitedMessage awaited = awaited_of(message);
  awaited.held_up = held_up(message);
  const bool may_come = message.incoming && used(channel_from(line_of(message))) > 0;
  if (message.done || (may_come && awaited.held_up.empty())) return;
  const ReportingRank me{space_.name(), group_memory_.label(rank_)};
  if (lost) throw lost_with_message(me, awaited, *lost);
  const auto culprit = culprit_behind(group_memory_, rank_, message.peer);
  const TimeoutError late =
      late_message(me, awaited, group_memory_.late(message.peer),
                   group_memory_.late(culprit.value_or(message.peer)), deadline);
  if (!culprit) throw WaitsTooError(late);
  throw late;
}

std::string Messenger::held_up(const Message& message) {
  const Inbox& inbox = *inboxes_[line_of(message)];
  if (!message.incoming || inbox.set_aside_bytes < kMostSetAside) return "";
  return fmt::format(
      "{} bytes of messages with other tags came from it and were not received, which is the "
      "limit: receive them first",
      inbox.set_aside_bytes);
}

void Messenger::drop_all() {
  for (auto& queue : outgoing_) queue.clear();
  for (auto& inbox : inboxes_) inbox = std::make_unique<Inbox>();
}

void Messenger::throw_if_stopped() {
  Lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void Messenger::give_up() {
  Lock lock(mutex_);
  stopped_ = true;
  drop_all();
}

void Messenger::stop(std::exception_ptr why) {
  {
    Lock lock(mutex_);
    if (!error_) error_ = std::move(why);
    stopped_ = true;
    drop_all();
  }
  ring_all();
}

}  // namespace lockstep::internal::comm
