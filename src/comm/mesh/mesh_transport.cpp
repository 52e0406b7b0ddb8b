#include "comm/mesh/mesh_transport.h"

#include "base/free_memory.h"
#include "base/pages.h"
#include "base/sleep.h"
#include "comm/collectives/tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::comm {

namespace {

/// Longest wait without a check of the peers.
constexpr std::chrono::milliseconds kSlice{50};

/// Data that a peer sent before it failed may still be in transit.
constexpr double kLingerSeconds = 1;

/// Data that a peer sent before it left normally is in transit, and may be long. A wire that can
/// tell that nothing more arrives ends the wait earlier. The same holds for a native collective:
/// the other ranks may still be in it when the first has finished.
constexpr double kLeftLingerSeconds = 10;

}  // namespace

MeshTransport::MeshTransport(RunContext run, Membership membership, WireKind kind,
                             const WaitLimit& limit)
    : run_(std::move(run)), membership_(std::move(membership)), kind_(std::move(kind)) {
  std::vector<Peer> peers = connect_peers(run_, membership_, kind_.channels, limit);
  matcher_ = std::make_unique<MessageMatcher>(membership_.size());
  control_ = std::make_unique<ControlMesh>(
      run_, membership_, std::string(kind_.name), peers,
      [this](int from, const ControlMessage& message) { return matcher_->take(from, message); });
  control_->while_waiting([&] {
    limit.check();
    return false;
  });
  try {
    // The wire is made when all ranks are known to be present, and used when all have made it.
    agree({.operation = Operation::barrier}, limit.deadline);
    wire_ = kind_.make(run_, membership_, peers, limit);
    matcher_->use(*wire_);
    agree({.operation = Operation::barrier}, limit.deadline);
  } catch (...) {
    control_->leave(culprit_in(std::current_exception()));
    throw;
  }
  control_->while_waiting({});
}

MeshTransport::~MeshTransport() {
  control_.reset();  // sends the goodbye, and ends the thread that may still match messages
}

// ── Collectives ──────────────────────────────────────────────────────────────────────────────

void MeshTransport::agree(const Fingerprint& call, const Deadline& deadline) {
  throw_if_abandoned();
  current_ = call;
  try {
    control_->agree(call, deadline);
  } catch (const Error&) {
    throw_if_abandoned();  // another thread abandoned the transport: report its reason
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
    throw lost_in_call(control_->me(), current_.text(), *control_->find_lost_rank(rank));
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
    throw lost_in_call(control_->me(), current_.text(), *control_->find_lost_rank(peer));
}

void MeshTransport::throw_if_another_is_late(const TimeoutError& late) {
  const auto& labels = membership_.labels;
  const auto found = std::find(labels.begin(), labels.end(), late.rank());
  if (found == labels.end()) return;
  const int peer = static_cast<int>(found - labels.begin());
  const int culprit = control_->culprit_behind(peer);
  if (culprit == peer || culprit == rank()) return;
  const LateRank other = control_->late(culprit);
  throw TimeoutError(
      fmt::format("{}. But rank {} is itself waiting; the rank that is not waiting is {}, "
                  "whose last call was {}",
                  late.what(), late.rank(), other.name, other.last_call),
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
        fmt::format("[{}] not every rank could allocate {} bytes of memory: free some, or use "
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
      throw lost_in_call(control_->me(), current_.text(), *control_->find_lost_rank(rank));
}

// ── Messages ─────────────────────────────────────────────────────────────────────────────────

std::shared_ptr<Request> MeshTransport::start_send(int to, std::int32_t tag,
                                                   std::span<const std::byte> data) {
  throw_if_abandoned();
  auto request = std::make_shared<MeshRequest>();
  request->peer = to;
  request->tag = tag;
  request->bytes = request->came = data.size();
  request->source = data;
  sent_.add(data.size());
  if (tag == kCollectiveTag) {
    request->matched = true;
    start_on_wire(*request, kCollectiveSlot);
    return request;
  }
  if (const auto slot = matcher_->post(request)) {
    start_on_wire(*request, *slot);
    control_->send(to, Announcement{tag, *slot, data.size()});
  } else {
    request->queued = true;
    follow_messages();  // the peer acknowledges earlier messages
  }
  matcher_->keep(request);
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
  control_->progress();  // its announcement may have arrived already
  if (auto taken = matcher_->want(request)) control_->send(from, std::move(*taken));
  matcher_->keep(request);
  follow_messages();
  return request;
}

/// One thread at a time: otherwise a thread that saw no pending receives could overwrite the state
/// of one that has just started another.
void MeshTransport::follow_messages() {
  Lock lock(following_);
  control_->expect_messages(matcher_->expects_messages());
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
  Deadline next_look = Deadline::after(kLookAfter);
  // While data is still to be sent, the wait does not sleep.
  while (!advance(message, control_->move_others() ? std::chrono::milliseconds(0) : kSlice)) {
    control_->progress();
    if (next_look.passed()) {
      control_->look_for_deaths({message.peer});
      next_look = Deadline::after(kLookAfter);
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

/// Waits for the request, at most `slice`; returns whether it is done.
bool MeshTransport::advance(MeshRequest& request, std::chrono::milliseconds slice) {
  throw_if_abandoned();
  if (request.tag != kCollectiveTag) {
    if (!matcher_->wait_until_matched(request, slice)) return false;
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
    // All its announcements have been read. The announced data may still arrive.
    const bool may_come = request.incoming && matcher_->matched(request);
    const double linger = control_->failed(request.peer) ? kLingerSeconds : kLeftLingerSeconds;
    if (may_come && now_seconds() - request.peer_gone_since < linger) return;
    if (!request.incoming && now_seconds() - request.peer_gone_since < kLingerSeconds) return;
    throw lost_with_message(control_->me(), awaited_of(request),
                            *control_->find_lost_rank(request.peer));
  }
  if (!deadline.passed()) return;
  const int culprit = control_->culprit_behind(request.peer);
  if (advance(request, std::chrono::milliseconds(0))) return;
  if (control_->gone(request.peer)) return;  // the next call reports it as lost
  AwaitedMessage awaited = awaited_of(request);
  if (request.tag != kCollectiveTag) awaited.held_up = matcher_->held_up(request);
  throw late_message(control_->me(), awaited, control_->late(request.peer), control_->late(culprit),
                     deadline);
}

/// The wire broke: the control mesh knows the cause, or will in a moment.
void MeshTransport::report_broken(const MeshRequest& request, const std::string& what) {
  const Deadline news = Deadline::after(std::chrono::seconds(2));
  while (!news.passed()) {
    control_->progress();
    if (control_->gone(request.peer))
      throw lost_with_message(control_->me(), awaited_of(request),
                              *control_->find_lost_rank(request.peer));
    sleep_for(std::chrono::milliseconds(5));
  }
  throw PeerLostError(membership_.labels[static_cast<std::size_t>(request.peer)],
                      fmt::format("[{}] rank {} lost its connection to {}: {}", name(),
                                  membership_.label(), control_->late(request.peer).name, what));
}

AwaitedMessage MeshTransport::awaited_of(const MeshRequest& request) const {
  return {request.incoming,
          request.bytes,
          request.tag,
          membership_.labels[static_cast<std::size_t>(request.peer)],
          request.tag == kCollectiveTag ? current_.text() : "",
          ""};
}

// ── Leaving ──────────────────────────────────────────────────────────────────────────────────

void MeshTransport::abandon(std::exception_ptr why) {
  const Culprit culprit = culprit_in(why);
  {
    Lock lock(mutex_);
    if (!error_) error_ = std::move(why);
  }
  control_->leave(culprit);
  wire_->close();
  matcher_->drop_all();
}

void MeshTransport::throw_if_abandoned() {
  Lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

}  // namespace lockstep::internal::comm
