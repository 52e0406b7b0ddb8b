#include "comm/mesh/mesh_transport.h"

#include "base/free_memory.h"
#include "base/pages.h"
#include "comm/collectives/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace lockstep::comm {

namespace {

/// How long a wait goes on without looking around.
constexpr std::chrono::milliseconds kSlice{50};

/// How long a peer keeps this rank waiting before the launcher is asked about it.
constexpr std::chrono::milliseconds kLookAfter{1000};

/// What a peer sent before it failed may still be on its way.
constexpr double kLingerSeconds = 1;

/// What a peer sent before it left of its own accord is on its way, and may be long. A wire that
/// can tell that nothing more comes ends the waiting earlier. Nor have the others done their part
/// of a native collective when the first has.
constexpr double kLeftLingerSeconds = 10;

}  // namespace

MeshTransport::MeshTransport(RunContext run, Membership membership, WireKind kind,
                             const WaitLimit& limit)
    : run_(std::move(run)), membership_(std::move(membership)), kind_(std::move(kind)) {
  std::vector<Peer> peers = connect_peers(run_, membership_, kind_.channels, limit);
  mailroom_ = std::make_unique<Mailroom>(membership_.size());
  control_ = std::make_unique<ControlMesh>(
      run_, membership_, std::string(kind_.name), peers,
      [this](int from, const ControlMessage& message) { return mailroom_->take(from, message); });
  control_->while_waiting([&] {
    limit.check();
    return false;
  });
  try {
    // The wire is made when all are known to be there, and used when all have made it.
    agree({.operation = Operation::barrier}, limit.deadline);
    wire_ = kind_.make(run_, membership_, peers, limit);
    mailroom_->use(*wire_);
    agree({.operation = Operation::barrier}, limit.deadline);
  } catch (...) {
    control_->leave(blame_in(std::current_exception()));
    throw;
  }
  control_->while_waiting({});
}

MeshTransport::~MeshTransport() {
  control_.reset();  // says goodbye, and ends the thread that may still match messages
}

// ── Collectives
// ───────────────────────────────────────────────────────────────────────────────────

void MeshTransport::agree(const Fingerprint& call, const Deadline& deadline) {
  throw_if_abandoned();
  current_ = call;
  try {
    control_->agree(call, deadline);
  } catch (const Error&) {
    throw_if_abandoned();  // by another thread meanwhile: that is why
    throw;
  }
}

void MeshTransport::watch(const Deadline& deadline) {
  throw_if_abandoned();
  control_->progress();
  for (int rank = 0; rank < size(); ++rank) {
    if (rank == this->rank() || !control_->gone(rank)) continue;
    double& since = gone_since_[rank];
    if (since == 0) since = now_seconds();
    if (!control_->failed(rank) && now_seconds() - since < kLeftLingerSeconds) continue;
    throw lost_in_call(control_->me(), current_.text(), *control_->loss_of(rank));
  }
  if (!deadline.passed()) return;
  const int first = rank() == 0 ? 1 : 0;
  throw late_in_call(control_->me(), current_.text(),
                     {control_->late(control_->culprit_behind(first))}, deadline);
}

void MeshTransport::show_waiting() {
  throw_if_abandoned();
  control_->progress();
}

void MeshTransport::throw_if_failed(int peer) {
  if (control_->failed(peer))
    throw lost_in_call(control_->me(), current_.text(), *control_->loss_of(peer));
}

void MeshTransport::throw_if_another_is_late(const TimeoutError& late) {
  const auto& labels = membership_.labels;
  const auto found = std::find(labels.begin(), labels.end(), late.rank());
  if (found == labels.end()) return;
  const int peer = static_cast<int>(found - labels.begin());
  const int culprit = control_->culprit_behind(peer);
  if (culprit == peer || culprit == rank()) return;
  const Late other = control_->late(culprit);
  throw TimeoutError(
      fmt::format("{}. But rank {} waits too; the one that does not is {}, whose last "
                  "call was {}",
                  late.what(), late.rank(), other.who, other.last_call),
      other.rank);
}

Memory MeshTransport::allocate(std::size_t bytes, const Fingerprint& call,
                               const Deadline& deadline) {
  agree(call, deadline);
  if (bytes == 0) return {};
  auto memory = bytes > free_memory() ? nullptr : map_pages(bytes);
  std::int32_t got = memory != nullptr;
  tree_all_reduce(*this, {&got, 1, DataType::int32}, ReduceOp::min, deadline);
  if (got == 0)
    throw Error(
        fmt::format("[{}] not every rank could get {} bytes of memory: free some, or use "
                    "fewer workers or a smaller model",
                    name(), bytes));
  return Memory(memory, memory.get(), bytes);
}

std::unique_ptr<Transport> MeshTransport::split(const Membership& part, const WaitLimit& limit) {
  return std::make_unique<MeshTransport>(run_, part, kind_, limit);
}

void MeshTransport::require_all_present() {
  show_waiting();
  for (int rank = 0; rank < size(); ++rank)
    if (rank != this->rank() && control_->gone(rank))
      throw lost_in_call(control_->me(), current_.text(), *control_->loss_of(rank));
}

// ── Messages
// ──────────────────────────────────────────────────────────────────────────────────────

std::shared_ptr<Request> MeshTransport::start_send(int to, std::int32_t tag,
                                                   std::span<const std::byte> data) {
  throw_if_abandoned();
  auto request = std::make_shared<MeshRequest>();
  request->peer = to;
  request->tag = tag;
  request->bytes = request->came = data.size();
  request->source = data;
  bytes_sent_.fetch_add(data.size(), std::memory_order_relaxed);
  if (tag == kCollectiveTag) {
    request->matched = true;
    start_on_wire(*request, kCollectiveSlot);
    return request;
  }
  if (const auto slot = mailroom_->post(request)) {
    start_on_wire(*request, *slot);
    control_->send(to, Announcement{tag, *slot, data.size()});
  } else {
    request->queued = true;
    follow_messages();  // the peer will say when it has taken earlier ones
  }
  mailroom_->keep(request);
  return request;
}

std::shared_ptr<Request> MeshTransport::start_recv(int from, std::int32_t tag,
                                                   std::span<std::byte> data) {
  throw_if_abandoned();
  auto request = std::make_shared<MeshRequest>();
  request->peer = from;
  request->tag = tag;
  request->incoming = true;
  request->bytes = data.size();
  request->target = data;
  if (tag == kCollectiveTag) {
    // Fingerprints have been compared: the lengths are equal.
    request->matched = true;
    request->came = data.size();
    start_on_wire(*request, kCollectiveSlot);
    return request;
  }
  control_->progress();  // its announcement may be here already
  if (auto taken = mailroom_->want(request)) control_->send(from, std::move(*taken));
  mailroom_->keep(request);
  follow_messages();
  return request;
}

/// One thread at a time: else one that saw no receives left could have the last word against one
/// that has just started another.
void MeshTransport::follow_messages() {
  Lock lock(following_);
  control_->expect_messages(mailroom_->expects_messages());
}

void MeshTransport::start_on_wire(MeshRequest& request, Slot slot) {
  if (request.bytes == 0) return;
  try {
    request.transfer = request.incoming ? wire_->receive(request.peer, slot, request.target)
                                        : wire_->send(request.peer, slot, request.source);
  } catch (const Error& error) {
    throw_if_abandoned();
    report_broken(request, error.what());
  }
}

void MeshTransport::wait(Request& request, const Deadline& deadline) {
  auto& message = static_cast<MeshRequest&>(request);
  Deadline patience = Deadline::after(kLookAfter);
  // While something else is to be sent, nobody sleeps.
  while (!advance(message, control_->move_others() ? std::chrono::milliseconds(0) : kSlice)) {
    control_->progress();
    if (patience.passed()) {
      control_->look_for_deaths({message.peer});
      patience = Deadline::after(kLookAfter);
    }
    look_around(message, deadline);
  }
}

bool MeshTransport::done(Request& request) {
  auto& message = static_cast<MeshRequest&>(request);
  if (advance(message, std::chrono::milliseconds(0))) return true;
  control_->progress();
  look_around(message, Deadline::after(std::chrono::hours(1)));
  return false;
}

/// Waits for the request, but no longer than `slice`; returns whether it is done.
bool MeshTransport::advance(MeshRequest& request, std::chrono::milliseconds slice) {
  throw_if_abandoned();
  if (request.tag != kCollectiveTag) {
    if (!mailroom_->wait_until_matched(request, slice)) return false;
    if (request.incoming || request.queued) follow_messages();
  }
  if (request.came != request.bytes)
    throw wrong_length(control_->me(), awaited_of(request), request.came);
  try {
    if (!request.broken.empty()) throw Error(request.broken);
    return !request.transfer || request.transfer->wait_for(slice);
  } catch (const Error& error) {
    throw_if_abandoned();
    report_broken(request, error.what());
  }
}

void MeshTransport::look_around(MeshRequest& request, const Deadline& deadline) {
  if (control_->gone(request.peer)) {
    if (request.peer_gone_since == 0) request.peer_gone_since = now_seconds();
    // All it announced has been read. What it announced may still come.
    const bool may_come = request.incoming && mailroom_->matched(request);
    const double linger = control_->failed(request.peer) ? kLingerSeconds : kLeftLingerSeconds;
    if (may_come && now_seconds() - request.peer_gone_since < linger) return;
    if (!request.incoming && now_seconds() - request.peer_gone_since < kLingerSeconds) return;
    throw lost_with_message(control_->me(), awaited_of(request), *control_->loss_of(request.peer));
  }
  if (!deadline.passed()) return;
  const int culprit = control_->culprit_behind(request.peer);
  if (advance(request, std::chrono::milliseconds(0))) return;
  if (control_->gone(request.peer)) return;  // next time round it is a loss
  AwaitedMessage awaited = awaited_of(request);
  if (request.tag != kCollectiveTag) awaited.held_up = mailroom_->held_up(request);
  throw late_message(control_->me(), awaited, control_->late(request.peer), control_->late(culprit),
                     deadline);
}

/// The wire broke: the control mesh knows why, or will in a moment.
void MeshTransport::report_broken(const MeshRequest& request, const std::string& what) {
  const Deadline news = Deadline::after(std::chrono::seconds(2));
  while (!news.passed()) {
    control_->progress();
    if (control_->gone(request.peer))
      throw lost_with_message(control_->me(), awaited_of(request),
                              *control_->loss_of(request.peer));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  throw PeerLostError(membership_.labels[static_cast<std::size_t>(request.peer)],
                      fmt::format("[{}] rank {} lost its connection to {}: {}", name(),
                                  membership_.label(), control_->late(request.peer).who, what));
}

AwaitedMessage MeshTransport::awaited_of(const MeshRequest& request) const {
  return {request.incoming,
          request.bytes,
          request.tag,
          membership_.labels[static_cast<std::size_t>(request.peer)],
          request.tag == kCollectiveTag ? current_.text() : "",
          ""};
}

// ── Leaving
// ───────────────────────────────────────────────────────────────────────────────────────

void MeshTransport::abandon(std::exception_ptr why) {
  const Blame blame = blame_in(why);
  {
    Lock lock(mutex_);
    if (!error_) error_ = std::move(why);
  }
  control_->leave(blame);
  wire_->close();
  mailroom_->drop_all();
}

void MeshTransport::throw_if_abandoned() {
  Lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

}  // namespace lockstep::comm
