#include "comm/shared/messenger.h"

#include "comm/shared/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace lockstep::comm {

namespace {

struct MessageHeader {
  std::int64_t tag;
  std::uint64_t length;
};

/// Bytes that are in the channel. Other processes write its positions: they are checked.
std::size_t used(const Channel& channel) {
  const std::uint64_t written = channel.written.load(std::memory_order_seq_cst);
  const std::uint64_t bytes = written - channel.read.load(std::memory_order_seq_cst);
  if (bytes > Channel::kCapacity)
    throw Error("the memory that ranks share was overwritten: look for a rank that goes astray");
  return static_cast<std::size_t>(bytes);
}

/// Copies as much of `data` as fits into the channel; returns how much that was.
std::size_t write_some(Channel& channel, std::span<const std::byte> data) {
  const std::uint64_t written = channel.written.load(std::memory_order_relaxed);
  const std::size_t amount = std::min(Channel::kCapacity - used(channel), data.size());
  const std::size_t at = written % Channel::kCapacity;
  const std::size_t before_end = std::min(amount, Channel::kCapacity - at);
  if (amount == 0) return 0;
  std::memcpy(channel.bytes.data() + at, data.data(), before_end);
  std::memcpy(channel.bytes.data(), data.data() + before_end, amount - before_end);
  channel.written.store(written + amount, std::memory_order_seq_cst);
  return amount;
}

/// Copies as much as there is, up to the length of `out`, and leaves it in the channel; returns how
/// much that was.
std::size_t peek(const Channel& channel, std::span<std::byte> out) {
  const std::size_t amount = std::min(used(channel), out.size());
  const std::size_t at = channel.read.load(std::memory_order_relaxed) % Channel::kCapacity;
  const std::size_t before_end = std::min(amount, Channel::kCapacity - at);
  if (amount == 0) return 0;
  std::memcpy(out.data(), channel.bytes.data() + at, before_end);
  std::memcpy(out.data() + before_end, channel.bytes.data(), amount - before_end);
  return amount;
}

/// Moves that much out of the channel.
std::size_t read_some(Channel& channel, std::span<std::byte> out) {
  const std::size_t amount = peek(channel, out);
  channel.read.store(channel.read.load(std::memory_order_relaxed) + amount,
                     std::memory_order_seq_cst);
  return amount;
}

MessageHeader next_header(const Channel& channel) {
  MessageHeader header{};
  peek(channel, std::as_writable_bytes(std::span(&header, 1)));
  return header;
}

Traffic traffic_of(std::int32_t tag) {
  return tag == kCollectiveTag ? Traffic::collective : Traffic::user;
}

}  // namespace

/// One message, going out or coming in.
struct Messenger::Message : Request {
  explicit Message(Messenger& messenger) : messenger(messenger) {}
  /// A message of a collective belongs to the collective alone: if an exception ends that, the
  /// memory around the message goes next. A message of the user's also belongs to the queues.
  ~Message() override {
    if (tag == kCollectiveTag && !done) messenger.give_up();
  }

  Messenger& messenger;
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
    std::size_t cost() const { return sizeof(SetAside) + bytes.size(); }
  };

  std::list<std::shared_ptr<Message>> wanted;  ///< receives, in the order they were started
  std::deque<SetAside> set_aside;
  std::size_t set_aside_bytes = 0;  ///< of those that are whole

  auto find_wanted(std::int64_t tag) {
    return std::find_if(wanted.begin(), wanted.end(),
                        [&](const auto& message) { return message->tag == tag; });
  }

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
      outgoing_(line_of(board_.size(), Traffic::user)) {
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
  return board_.channel(rank_, peer_on(line), static_cast<Traffic>(line % kTraffics));
}

Channel& Messenger::channel_from(std::size_t line) const {
  return board_.channel(peer_on(line), rank_, static_cast<Traffic>(line % kTraffics));
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
  board_.cell(rank_).messages.wait(
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
  for (int peer = 0; peer < board_.size(); ++peer) board_.cell(peer).messages.ring();
}

/// Moves what can be moved, then tells whether the message is done.
bool Messenger::finished(Message& message) {
  if (message.done.load(std::memory_order_acquire)) return true;
  bool moved = false;
  {
    Lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    moved = !stopped_ && progress();
  }
  // Another thread of this rank may sleep on a message that we have just moved for it.
  if (moved) board_.cell(rank_).messages.ring();
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
    bytes_sent_.fetch_add(amount, std::memory_order_relaxed);
    message.source = message.source.subspan(amount);
    if (!message.source.empty()) break;
    const auto sent = std::move(queue.front());
    queue.pop_front();
    sent->done.store(true, std::memory_order_release);  // last: its owner may then drop it
  }
  if (moved) board_.cell(peer_on(line)).messages.ring();
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
  if (moved) board_.cell(peer_on(line)).messages.ring();
  return moved;
}

/// Otherwise the channel fills up and holds the sender back: that is the flow control.
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
  // Someone may have asked for it while it was coming.
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
  // The last one may still be coming; then close_message sees to it.
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
    throw wrong_length({space_.name(), board_.label(rank_)}, awaited_of(wanted), came);
}

AwaitedMessage Messenger::awaited_of(const Message& message) const {
  return {message.incoming,
          message.incoming ? message.target.size() : message.source.size(),
          message.tag,
          board_.label(message.peer),
          message.tag < 0 ? board_.cell(rank_).last_call() : "",
          ""};
}

void Messenger::look_around(const Message& message, const Deadline& deadline) {
  show_waiting(board_, rank_);
  if (tick_) tick_(message.tag == kCollectiveTag);
  const auto loss = loss_of(space_, message.peer);
  if (!loss && !deadline.passed()) return;
  Lock lock(mutex_);
  // What a rank sent before it went still counts, and another thread may just have received it.
  AwaitedMessage awaited = awaited_of(message);
  awaited.held_up = held_up(message);
  const bool may_come = message.incoming && used(channel_from(line_of(message))) > 0;
  if (message.done || (may_come && awaited.held_up.empty())) return;
  const Complainer me{space_.name(), board_.label(rank_)};
  if (loss) throw lost_with_message(me, awaited, *loss);
  const auto culprit = culprit_behind(board_, rank_, message.peer);
  const TimeoutError late = late_message(me, awaited, board_.late(message.peer),
                                         board_.late(culprit.value_or(message.peer)), deadline);
  if (!culprit) throw WaitsTooError(late);
  throw late;
}

std::string Messenger::held_up(const Message& message) {
  const Inbox& inbox = *inboxes_[line_of(message)];
  if (!message.incoming || inbox.set_aside_bytes < kMostSetAside) return "";
  return fmt::format(
      "{} bytes of messages with other tags came from it and were not received, the most that may "
      "wait here: receive them first",
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

}  // namespace lockstep::comm
