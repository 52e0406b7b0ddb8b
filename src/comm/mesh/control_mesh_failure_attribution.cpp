// ControlMesh: which ranks are present, and which rank caused a failure.
#include "base/sleep.h"
#include "comm/mesh/control_mesh.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::comm {

namespace {

/// Longest wait for the launcher's answer: it may be gone too.
constexpr double kLookSeconds = 0.1;

/// How long a leaving rank tries to send data that peers have not read yet.
constexpr std::chrono::milliseconds kSendTheRest{2000};

/// How long a waiting rank may take to answer: it checks once per slice.
constexpr std::chrono::milliseconds kAnswerTime{400};

}  // namespace

void ControlMesh::leave(const Culprit& culprit) {
  left_ = true;
  Lock lock(mutex_);
  for (int rank : others()) members_[static_cast<std::size_t>(rank)].link.leave(culprit);
}

/// Bounded: a stopped peer would block this rank for ever.
void ControlMesh::send_the_rest() {
  const Deadline end = Deadline::after(kSendTheRest);
  auto has_unsent = [&] {
    progress();
    Lock lock(mutex_);
    return std::any_of(members_.begin(), members_.end(),
                       [](const Member& member) { return member.link.has_unsent(); });
  };
  while (has_unsent() && !end.passed()) sleep_for(kSlice / 10);
}

void ControlMesh::look_for_deaths(const std::vector<int>& ranks) {
  const double start = now_seconds();
  const std::size_t first = looks_.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < ranks.size() && now_seconds() - start < kLookSeconds; ++i) {
    const int rank = ranks[(first + i) % ranks.size()];
    if (!run_.store->ending_of(membership_.members[static_cast<std::size_t>(rank)], {})) continue;
    progress();  // it may have sent a goodbye message
    Lock lock(mutex_);
    ControlLink& link = members_[static_cast<std::size_t>(rank)].link;
    if (link.presence() == ControlLink::Presence::present) link.give_up();
  }
}

Culprit ControlMesh::culprit_for(int rank) {
  Culprit cause{rank, false};
  // Every rank names at most one cause; the bound only guards against a cycle.
  for (int step = 0; step < membership_.size() && cause.rank != membership_.rank; ++step) {
    const Culprit given = members_[static_cast<std::size_t>(cause.rank)].link.culprit();
    const auto next = given.rank < 0 ? std::nullopt : rank_called(given.rank);
    if (!next) break;
    cause = {*next, given.died};
  }
  return cause;
}

std::optional<int> ControlMesh::rank_called(int label) const {
  for (int rank = 0; rank < membership_.size(); ++rank)
    if (membership_.labels[static_cast<std::size_t>(rank)] == label) return rank;
  return std::nullopt;
}

std::optional<LostRank> ControlMesh::find_lost_rank(int rank) {
  using Presence = ControlLink::Presence;
  Culprit cause;
  {
    Lock lock(mutex_);
    if (members_[static_cast<std::size_t>(rank)].link.presence() == Presence::present)
      return std::nullopt;
    cause = culprit_for(rank);
  }
  const int culprit = cause.rank;
  if (culprit != membership_.rank && !gone(culprit)) look_for_deaths({culprit});
  Presence presence = Presence::present;
  LostRank lost;
  {
    Lock lock(mutex_);
    presence = members_[static_cast<std::size_t>(culprit)].link.presence();
    lost.last_call = members_[static_cast<std::size_t>(culprit)].last_call.text();
  }
  // The rank that named it may have seen its connection end before this rank does.
  if (presence == Presence::present && cause.died && culprit != membership_.rank)
    presence = Presence::died;
  lost.rank = membership_.labels[static_cast<std::size_t>(culprit)];
  lost.died = presence == Presence::died;
  lost.what = names_[static_cast<std::size_t>(culprit)];
  if (presence == Presence::present) lost.what += " did not arrive in time";
  if (presence == Presence::left) lost.what += " left the group";
  if (presence == Presence::died) {
    lost.what += " died";
    // The launcher, if there is one, learns of the death slightly later than this rank.
    const auto how = run_.store->ending_of(membership_.members[static_cast<std::size_t>(culprit)],
                                           std::chrono::milliseconds(1000));
    if (how) lost.what += ": it " + *how;
  }
  if (culprit != rank)
    lost.what += fmt::format(", and rank {} gave up because of it",
                             membership_.labels[static_cast<std::size_t>(rank)]);
  return lost;
}

bool ControlMesh::gone(int rank) {
  Lock lock(mutex_);
  return members_[static_cast<std::size_t>(rank)].link.presence() != ControlLink::Presence::present;
}

bool ControlMesh::failed(int rank) {
  Lock lock(mutex_);
  const ControlLink& link = members_[static_cast<std::size_t>(rank)].link;
  return link.presence() == ControlLink::Presence::died || link.culprit().rank >= 0;
}

LateRank ControlMesh::late(int rank) {
  Lock lock(mutex_);
  return {membership_.labels[static_cast<std::size_t>(rank)],
          names_[static_cast<std::size_t>(rank)],
          members_[static_cast<std::size_t>(rank)].last_call.text()};
}

void ControlMesh::answer_those_who_ask() {
  for (Member& member : members_) {
    if (!member.asks) continue;
    member.asks = false;
    member.link.send(Answer{});
  }
}

std::vector<int> ControlMesh::silent_among(const std::vector<int>& suspects) {
  std::vector<std::uint32_t> before;
  {
    Lock lock(mutex_);
    for (int rank : suspects) {
      Member& member = members_[static_cast<std::size_t>(rank)];
      before.push_back(member.answers);
      member.link.send(Ask{});
    }
  }
  // Ranks that are gone cannot answer, which is already known.
  auto still_silent = [&] {
    Lock lock(mutex_);
    std::vector<int> silent;
    for (std::size_t i = 0; i < suspects.size(); ++i) {
      const Member& member = members_[static_cast<std::size_t>(suspects[i])];
      if (member.answers == before[i] && member.link.presence() == ControlLink::Presence::present)
        silent.push_back(suspects[i]);
    }
    return silent;
  };
  std::vector<int> silent = still_silent();
  for (const Deadline end = Deadline::after(kAnswerTime); !silent.empty() && !end.passed();) {
    sleep_for(kSlice / 5);
    progress();
    move_others();
    silent = still_silent();
  }
  return silent;
}

int ControlMesh::culprit_behind(int peer) {
  const std::vector<int> silent = silent_among(others());
  const bool peer_is_silent = std::find(silent.begin(), silent.end(), peer) != silent.end();
  if (peer_is_silent) return peer;
  if (!silent.empty()) return silent.front();
  Lock lock(mutex_);
  return culprit_for(peer).rank;
}

}  // namespace lockstep::internal::comm
