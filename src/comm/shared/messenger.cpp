#include "comm/shared/messenger.h"

#include "comm/shared/loss.h"

#include <algorithm>
#include <cstring>

namespace lockstep::comm {

namespace {

struct MessageHeader {
  std::int64_t tag;
  std::uint64_t length;
};

/// Copies as much of `data` as fits into the channel; returns how much that was.
std::size_t write_some(Channel& channel, std::span<const std::byte> data) {
  const std::uint64_t written = channel.written.load(std::memory_order_relaxed);
  const std::uint64_t read = channel.read.load(std::memory_order_seq_cst);
  const std::size_t room = Channel::kCapacity - static_cast<std::size_t>(written - read);
  const std::size_t amount = std::min(room, data.size());
  const std::size_t at = written % Channel::kCapacity;
  const std::size_t before_end = std::min(amount, Channel::kCapacity - at);
  if (amount == 0) return 0;
  std::memcpy(channel.bytes.data() + at, data.data(), before_end);
  std::memcpy(channel.bytes.data(), data.data() + before_end, amount - before_end);
  channel.written.store(written + amount, std::memory_order_seq_cst);
  return amount;
}

std::size_t readable(const Channel& channel) {
  return static_cast<std::size_t>(channel.written.load(std::memory_order_seq_cst) -
                                  channel.read.load(std::memory_order_relaxed));
}

/// Moves as much as there is, up to the length of `out`, out of the channel; returns how much that
/// was.
std::size_t read_some(Channel& channel, std::span<std::byte> out) {
  const std::uint64_t read = channel.read.load(std::memory_order_relaxed);
  const std::size_t amount = std::min(readable(channel), out.size());
  const std::size_t at = read % Channel::kCapacity;
  const std::size_t before_end = std::min(amount, Channel::kCapacity - at);
  if (amount == 0) return 0;
  std::memcpy(out.data(), channel.bytes.data() + at, before_end);
  std::memcpy(out.data() + before_end, channel.bytes.data(), amount - before_end);
  channel.read.store(read + amount, std::memory_order_seq_cst);
  return amount;
}

}  // namespace

/// One message, going out or coming in.
struct Messenger::Message : Request {
  int peer = 0;
  std::int32_t tag = 0;
  bool incoming = false;
  bool header_sent = false;
  std::span<const std::byte> source;  ///< what is left to send
  std::span<std::byte> target;        ///< where to receive
  std::atomic<bool> done{false};
};

/// What comes from one rank.
struct Messenger::Inbox {
  /// A message that came before anyone asked for it.
  struct SetAside {
    std::int32_t tag = 0;
    std::vector<std::byte> bytes;
  };

  std::list<std::shared_ptr<Message>> wanted;  ///< receives, in the order they were started
  std::deque<SetAside> set_aside;

  // The message being read, if open. It goes to `receiver`, or to the end of set_aside if there is
  // none.
  bool open = false;
  std::size_t missing = 0;  ///< bytes still to come
  std::size_t arrived = 0;
  std::shared_ptr<Message> receiver;

  /// Where the next bytes of the open message go, given that `available` of them can be read. What
  /// is set aside grows with what has really come, not with what a header promises.
  std::span<std::byte> room(std::size_t available) {
    if (receiver) return receiver->target.subspan(arrived);
    auto& bytes = set_aside.back().bytes;
    bytes.resize(arrived + std::min(missing, available));
    return std::span(bytes).subspan(arrived);
  }
};

Messenger::Messenger(const SharedSpace& space, int rank)
    : space_(space),
      board_(space.blackboard()),
      rank_(rank),
      spins_(spins_for(board_.size())),
      outgoing_(static_cast<std::size_t>(board_.size())) {
  for (int peer = 0; peer < board_.size(); ++peer) inboxes_.push_back(std::make_unique<Inbox>());
}

Messenger::~Messenger() = default;

std::shared_ptr<Request> Messenger::start_send(int to, std::int32_t tag,
                                               std::span<const std::byte> data) {
  auto message = std::make_shared<Message>();
  message->peer = to;
  message->tag = tag;
  message->source = data;
  Lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  outgoing_[static_cast<std::size_t>(to)].push_back(message);
  push(to);
  return message;
}

std::shared_ptr<Request> Messenger::start_recv(int from, std::int32_t tag,
                                               std::span<std::byte> data) {
  auto message = std::make_shared<Message>();
  message->peer = from;
  message->tag = tag;
  message->incoming = true;
  message->target = data;
  Lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  fill_from_set_aside(from, message);
  if (!message->done) inboxes_[static_cast<std::size_t>(from)]->wanted.push_back(message);
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
  board_.cell(rank_).messages.wait(
      spins_, [&] { return finished(message); }, [&] { look_around(message, deadline); });
}

bool Messenger::move() {
  Lock lock(mutex_);
  if (error_) return false;
  progress();
  return std::any_of(outgoing_.begin(), outgoing_.end(),
                     [](const auto& queue) { return !queue.empty(); });
}

void Messenger::ring_all() const {
  for (int peer = 0; peer < board_.size(); ++peer) board_.cell(peer).messages.ring();
}

/// Moves what can be moved, then tells whether the message is done.
bool Messenger::finished(Message& message) {
  if (message.done.load(std::memory_order_acquire)) return true;
  bool moved = false;
  {
    Lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    moved = progress();
  }
  // Another thread of this rank may sleep on a message that we have just moved for it.
  if (moved) board_.cell(rank_).messages.ring();
  return message.done.load(std::memory_order_acquire);
}

bool Messenger::progress() {
  bool moved = false;
  for (int peer = 0; peer < board_.size(); ++peer) {
    moved |= push(peer);
    moved |= pull(peer);
  }
  return moved;
}

bool Messenger::push(int to) {
  auto& queue = outgoing_[static_cast<std::size_t>(to)];
  Channel& channel = board_.channel(rank_, to);
  bool moved = false;
  while (!queue.empty()) {
    Message& message = *queue.front();
    if (!message.header_sent) {
      const MessageHeader header{message.tag, message.source.size()};
      const std::uint64_t used = channel.written.load(std::memory_order_relaxed) -
                                 channel.read.load(std::memory_order_seq_cst);
      if (Channel::kCapacity - used < sizeof header) break;
      write_some(channel, std::as_bytes(std::span(&header, 1)));
      message.header_sent = true;
      moved = true;
    }
    const std::size_t amount = write_some(channel, message.source);
    moved |= amount > 0;
    bytes_sent_.fetch_add(amount, std::memory_order_relaxed);
    message.source = message.source.subspan(amount);
    if (!message.source.empty()) break;
    message.done.store(true, std::memory_order_release);
    queue.pop_front();
  }
  if (moved) board_.cell(to).messages.ring();
  return moved;
}

bool Messenger::pull(int from) {
  Inbox& inbox = *inboxes_[static_cast<std::size_t>(from)];
  Channel& channel = board_.channel(from, rank_);
  bool moved = false;
  // With nothing wanted the channel fills up and holds the sender back: that is the flow control.
  while (inbox.open || (!inbox.wanted.empty() && readable(channel) >= sizeof(MessageHeader))) {
    if (!inbox.open) {
      open_message(from);
      moved = true;
    }
    const std::size_t amount = read_some(channel, inbox.room(readable(channel)));
    inbox.arrived += amount;
    inbox.missing -= amount;
    moved |= amount > 0;
    if (inbox.missing > 0) break;
    close_message(from);
  }
  if (moved) board_.cell(from).messages.ring();
  return moved;
}

void Messenger::open_message(int from) {
  Inbox& inbox = *inboxes_[static_cast<std::size_t>(from)];
  MessageHeader header{};
  read_some(board_.channel(from, rank_), std::as_writable_bytes(std::span(&header, 1)));
  const auto tag = static_cast<std::int32_t>(header.tag);
  auto match = std::find_if(inbox.wanted.begin(), inbox.wanted.end(),
                            [&](const auto& message) { return message->tag == tag; });
  if (match != inbox.wanted.end()) require_length(**match, header.length);
  inbox.open = true;
  inbox.arrived = 0;
  inbox.missing = header.length;
  inbox.receiver = nullptr;
  if (match == inbox.wanted.end()) {
    inbox.set_aside.push_back({tag, {}});
    return;
  }
  inbox.receiver = *match;
  inbox.wanted.erase(match);
}

void Messenger::close_message(int from) {
  Inbox& inbox = *inboxes_[static_cast<std::size_t>(from)];
  inbox.open = false;
  if (inbox.receiver) {
    inbox.receiver->done.store(true, std::memory_order_release);
    inbox.receiver = nullptr;
    return;
  }
  // Someone may have asked for it while it was coming.
  const std::int32_t tag = inbox.set_aside.back().tag;
  auto match = std::find_if(inbox.wanted.begin(), inbox.wanted.end(),
                            [&](const auto& message) { return message->tag == tag; });
  if (match == inbox.wanted.end()) return;
  auto wanted = *match;
  inbox.wanted.erase(match);
  fill_from_set_aside(from, wanted);
}

void Messenger::fill_from_set_aside(int from, const std::shared_ptr<Message>& wanted) {
  Inbox& inbox = *inboxes_[static_cast<std::size_t>(from)];
  auto match = std::find_if(inbox.set_aside.begin(), inbox.set_aside.end(),
                            [&](const auto& message) { return message.tag == wanted->tag; });
  if (match == inbox.set_aside.end()) return;
  // The last one may still be coming; then close_message sees to it.
  const bool coming = inbox.open && !inbox.receiver && &*match == &inbox.set_aside.back();
  if (coming) return;
  require_length(*wanted, match->bytes.size());
  std::copy(match->bytes.begin(), match->bytes.end(), wanted->target.begin());
  inbox.set_aside.erase(match);
  wanted->done.store(true, std::memory_order_release);
}

void Messenger::require_length(const Message& wanted, std::uint64_t came) const {
  if (wanted.target.size() != came)
    throw wrong_length({space_.name(), board_.label(rank_)}, awaited_of(wanted), came);
}

AwaitedMessage Messenger::awaited_of(const Message& message) const {
  return {message.incoming, message.incoming ? message.target.size() : message.source.size(),
          message.tag, board_.label(message.peer),
          message.tag < 0 ? board_.cell(rank_).last_call() : ""};
}

void Messenger::look_around(const Message& message, const Deadline& deadline) {
  show_waiting(board_, rank_);
  if (tick_) tick_(message.tag == kCollectiveTag);
  const auto loss = loss_of(space_, message.peer);
  if (!loss && !deadline.passed()) return;
  Lock lock(mutex_);
  // What a rank sent before it went still counts, and another thread may just have received it.
  if (message.done || (message.incoming && readable(board_.channel(message.peer, rank_)) > 0))
    return;
  const Complainer me{space_.name(), board_.label(rank_)};
  const AwaitedMessage awaited = awaited_of(message);
  if (loss) throw lost_with_message(me, awaited, *loss);
  const auto culprit = culprit_behind(board_, rank_, message.peer);
  const TimeoutError late = late_message(me, awaited, board_.late(message.peer),
                                         board_.late(culprit.value_or(message.peer)), deadline);
  if (!culprit) throw WaitsTooError(late);
  throw late;
}

void Messenger::stop(std::exception_ptr why) {
  {
    Lock lock(mutex_);
    if (!error_) error_ = std::move(why);
    for (auto& queue : outgoing_) queue.clear();
    for (auto& inbox : inboxes_) inbox = std::make_unique<Inbox>();
  }
  ring_all();
}

}  // namespace lockstep::comm
