#include "comm/mesh/control_mesh.h"

#include <fmt/format.h>

#include <poll.h>

#include <algorithm>

namespace lockstep::internal::comm {

namespace {

/// Number of socket checks before sleeping: the awaited message is often a few microseconds away.
constexpr int kSpins = 20;

/// Number of calls that a peer may be ahead. Two are normal: the peer starts its next call when
/// this rank's last call has reached it. A peer that sends many more violates the protocol.
constexpr std::size_t kMostCalls = 16;

std::vector<std::string> names_of(const Membership& membership, const std::vector<Peer>& peers) {
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < peers.size(); ++rank)
    names.push_back(rank == static_cast<std::size_t>(membership.rank)
                        ? fmt::format("rank {} (this one)", membership.label())
                        : fmt::format("rank {} (pid {} on {})", membership.labels[rank],
                                      peers[rank].pid, peers[rank].host));
  return names;
}

}  // namespace

ControlMesh::ControlMesh(RunContext run, Membership membership, std::string transport,
                         std::vector<Peer>& peers, OnMessage on_message)
    : run_(std::move(run)),
      membership_(std::move(membership)),
      transport_(std::move(transport)),
      on_message_(std::move(on_message)),
      names_(names_of(membership_, peers)),
      members_(peers.size()) {
  for (int rank : others()) {
    const auto i = static_cast<std::size_t>(rank);
    members_[i].link = ControlLink(std::move(peers[i].channels[kControlChannel]));
  }
  watcher_ = Thread("peer watcher", [this] { watch(); });
}

ControlMesh::~ControlMesh() {
  leave({});
  send_the_rest();
  {
    Lock lock(mutex_);
    closing_ = true;
  }
  wake_watcher();
}

std::vector<int> ControlMesh::others() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < membership_.size(); ++rank)
    if (rank != membership_.rank) ranks.push_back(rank);
  return ranks;
}

// ── Collectives ──────────────────────────────────────────────────────────────────────────────

void ControlMesh::agree(const Fingerprint& call, const Deadline& deadline) {
  const double start = now_seconds();
  {
    Lock lock(mutex_);
    agreeing_ = true;
    for (int rank : others()) members_[static_cast<std::size_t>(rank)].link.send(Call{call});
  }
  wait_for_calls(call, deadline);
  const std::vector<int> given_up = given_up_now();
  // Reported first: ranks that left because of a mismatch may have made others give up.
  require_agreement(take_calls(call));
  throw_if_lost(given_up, call);
  seconds_waited_.store(seconds_waited() + now_seconds() - start, std::memory_order_relaxed);
}

void ControlMesh::wait_for_calls(const Fingerprint& call, const Deadline& deadline) {
  Deadline next_look = Deadline::after(kLookAfter);
  for (int round = 0; !all_have_come(); ++round) {
    if (round < kSpins) continue;
    if (next_look.passed()) {
      look_for_deaths(without_call_now());
      next_look = Deadline::after(kLookAfter);
    }
    // A peer may arrive only after it has received the messages this rank is still sending.
    const bool moving = move_others();
    if (moving && round % 1024 != 0) continue;
    if (left_) throw Error("this rank has left the group");
    throw_if_lost(gone_without_call_now(), call);
    if (deadline.passed()) report_late(call, deadline);
    if (!moving) sleep_until_something_comes();
  }
}

void ControlMesh::throw_if_lost(const std::vector<int>& gone, const Fingerprint& call) {
  if (!gone.empty()) throw lost_in_call(me(), call.text(), *find_lost_rank(gone.front()));
}

/// Returns if the late ranks have arrived after all.
void ControlMesh::report_late(const Fingerprint& call, const Deadline& deadline) {
  std::vector<int> stuck = silent_among(without_call_now());
  throw_if_lost(gone_without_call_now(), call);
  const std::vector<int> missing = without_call_now();
  if (missing.empty()) return;
  std::erase_if(stuck, [&](int rank) {
    return std::find(missing.begin(), missing.end(), rank) == missing.end();
  });
  std::vector<LateRank> late_ones;
  for (int rank : stuck.empty() ? missing : stuck) late_ones.push_back(late(rank));
  throw late_in_call(me(), call.text(), late_ones, deadline);
}

std::vector<int> ControlMesh::without_call_now() {
  Lock lock(mutex_);
  return without_call();
}

std::vector<int> ControlMesh::gone_without_call_now() {
  Lock lock(mutex_);
  std::vector<int> gone;
  for (int rank : without_call()) {
    const ControlLink& link = members_[static_cast<std::size_t>(rank)].link;
    if (link.presence() != ControlLink::Presence::present) gone.push_back(rank);
  }
  return gone;
}

std::vector<int> ControlMesh::given_up_now() {
  Lock lock(mutex_);
  std::vector<int> ranks;
  for (int rank : others()) {
    const Member& member = members_[static_cast<std::size_t>(rank)];
    if (member.link.culprit().rank >= 0 && member.calls.size() == 1) ranks.push_back(rank);
  }
  return ranks;
}

bool ControlMesh::all_have_come() {
  Lock lock(mutex_);
  read_all();
  answer_those_who_ask();
  return without_call().empty();
}

std::vector<int> ControlMesh::without_call() {
  std::vector<int> missing;
  for (int rank : others())
    if (members_[static_cast<std::size_t>(rank)].calls.empty()) missing.push_back(rank);
  return missing;
}

std::vector<Fingerprint> ControlMesh::take_calls(const Fingerprint& mine) {
  Lock lock(mutex_);
  agreeing_ = false;
  std::vector<Fingerprint> calls(members_.size(), mine);
  for (int rank : others()) {
    Member& member = members_[static_cast<std::size_t>(rank)];
    calls[static_cast<std::size_t>(rank)] = member.calls.front();
    member.calls.pop_front();
  }
  return calls;
}

void ControlMesh::sleep_until_something_comes() {
  std::vector<pollfd> watched{{nudge_.fd(), POLLIN, 0}};
  {
    Lock lock(mutex_);
    for (int rank : without_call()) {
      const ControlLink& link = members_[static_cast<std::size_t>(rank)].link;
      if (link.presence() == ControlLink::Presence::present)
        watched.push_back({link.fd(), POLLIN, 0});
    }
  }
  ::poll(watched.data(), watched.size(), static_cast<int>(kSlice.count()));
  nudge_.reset();
}

// ── Messages ─────────────────────────────────────────────────────────────────────────────────

void ControlMesh::send(int to, const ControlMessage& message) {
  bool unsent = false;
  {
    Lock lock(mutex_);
    ControlLink& link = members_[static_cast<std::size_t>(to)].link;
    link.send(message);
    unsent = link.has_unsent();
  }
  if (unsent) wake_watcher();  // the watcher sends the rest
}

void ControlMesh::expect_messages(bool expected) {
  bool changed = false;
  {
    Lock lock(mutex_);
    changed = reading_ != expected;
    reading_ = expected;
  }
  if (changed) wake_watcher();
}

void ControlMesh::progress() {
  Lock lock(mutex_);
  read_all();
  answer_those_who_ask();
}

void ControlMesh::read_all() {
  for (int rank : others()) read_from(rank);
}

bool ControlMesh::read_from(int rank) {
  ControlLink& link = members_[static_cast<std::size_t>(rank)].link;
  link.flush();
  bool announced = false;
  try {
    for (const ControlMessage& message : link.receive()) {
      take(rank, message);
      announced |= std::holds_alternative<Announcement>(message);
    }
  } catch (const Error&) {  // a peer that violates the protocol counts as dead
    link.give_up();
  }
  return announced;
}

void ControlMesh::take(int from, const ControlMessage& message) {
  Member& member = members_[static_cast<std::size_t>(from)];
  if (const auto* call = std::get_if<Call>(&message)) {
    if (member.calls.size() >= kMostCalls) throw Error("a peer sent too many calls ahead of time");
    member.calls.push_back(call->fingerprint);
    member.last_call = call->fingerprint;
  } else if (std::holds_alternative<Ask>(message)) {
    member.asks = true;
  } else if (std::holds_alternative<Answer>(message)) {
    ++member.answers;
  } else {
    for (const ControlMessage& answer : on_message_(from, message)) member.link.send(answer);
    if (member.link.has_unsent()) wake_watcher();
  }
}

}  // namespace lockstep::internal::comm
