#include "comm/mesh/control_mesh.h"

#include "base/check.h"

#include <fmt/format.h>

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>

namespace lockstep::comm {

namespace {

/// How long a rank waits without looking around.
constexpr std::chrono::milliseconds kSlice{50};

/// How long a peer keeps this rank waiting before the launcher is asked about it.
constexpr std::chrono::milliseconds kLookAfter{1000};

/// The launcher is asked for no longer than that at a time: it may be gone, too.
constexpr double kLookSeconds = 0.1;

/// How long a rank that leaves takes to send what peers have not read yet.
constexpr std::chrono::milliseconds kSendTheRest{2000};

/// How long a watcher that is not asked to read leaves what has come in the sockets. Less than it
/// takes a sender to conclude from a full buffer that this host is dead (detect_dead_hosts).
constexpr std::chrono::milliseconds kReadAfter{1000};

/// How long a rank that waits may take to say so: it looks up once a slice.
constexpr std::chrono::milliseconds kAnswerTime{400};

/// Looks at the sockets before going to sleep: what is waited for is often a few microseconds away.
constexpr int kSpins = 20;

UniqueFd make_eventfd() {
  UniqueFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  LOCKSTEP_CHECK(fd, "eventfd failed");
  return fd;
}

void ring(const UniqueFd& fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = ::write(fd.get(), &one, sizeof one);
}

void silence(const UniqueFd& fd) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(fd.get(), &count, sizeof count);
}

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
                         std::vector<Peer>& peers, OnAnnouncement on_announcement)
    : run_(std::move(run)),
      membership_(std::move(membership)),
      transport_(std::move(transport)),
      on_announcement_(std::move(on_announcement)),
      names_(names_of(membership_, peers)),
      wake_(make_eventfd()),
      nudge_(make_eventfd()),
      members_(peers.size()) {
  for (int rank : others()) {
    const auto i = static_cast<std::size_t>(rank);
    members_[i].link = ControlLink(std::move(peers[i].channels[0]));
  }
  watcher_ = std::thread([this] { watch(); });
}

ControlMesh::~ControlMesh() {
  leave(-1);
  send_the_rest();
  {
    Lock lock(mutex_);
    closing_ = true;
  }
  wake_watcher();
  watcher_.join();
}

std::vector<int> ControlMesh::others() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < membership_.size(); ++rank)
    if (rank != membership_.rank) ranks.push_back(rank);
  return ranks;
}

// ── Collectives
// ───────────────────────────────────────────────────────────────────────────────────

void ControlMesh::agree(const Fingerprint& call, const Deadline& deadline) {
  const double start = now_seconds();
  {
    Lock lock(mutex_);
    agreeing_ = true;
    for (int rank : others()) members_[static_cast<std::size_t>(rank)].link.send(Call{call});
  }
  wait_for_calls(call, deadline);
  throw_if_lost(given_up_now(), call);
  require_agreement(take_calls(call));
  seconds_waited_.store(seconds_waited() + now_seconds() - start, std::memory_order_relaxed);
}

void ControlMesh::wait_for_calls(const Fingerprint& call, const Deadline& deadline) {
  Deadline patience = Deadline::after(kLookAfter);
  for (int round = 0; !all_have_come(); ++round) {
    if (round < kSpins) continue;
    if (patience.passed()) {
      look_for_deaths(without_call_now());
      patience = Deadline::after(kLookAfter);
    }
    // A peer may come only after it has got what this rank is still sending.
    const bool moving = move_others();
    if (moving && round % 1024 != 0) continue;
    throw_if_lost(without_call_now(), call);
    if (deadline.passed()) report_late(call, deadline);
    if (!moving) sleep_until_something_comes();
  }
}

void ControlMesh::throw_if_lost(const std::vector<int>& missing, const Fingerprint& call) {
  for (int rank : missing)
    if (const auto loss = loss_of(rank)) throw lost_in_call(me(), call.text(), *loss);
}

/// Returns if those who were late have come after all.
void ControlMesh::report_late(const Fingerprint& call, const Deadline& deadline) {
  std::vector<int> stuck = silent_among(without_call_now());
  const std::vector<int> missing = without_call_now();
  if (missing.empty()) return;
  throw_if_lost(missing, call);
  std::erase_if(stuck, [&](int rank) {
    return std::find(missing.begin(), missing.end(), rank) == missing.end();
  });
  std::vector<Late> late_ones;
  for (int rank : stuck.empty() ? missing : stuck) late_ones.push_back(late(rank));
  throw late_in_call(me(), call.text(), late_ones, deadline);
}

std::vector<int> ControlMesh::without_call_now() {
  Lock lock(mutex_);
  return without_call();
}

std::vector<int> ControlMesh::given_up_now() {
  Lock lock(mutex_);
  std::vector<int> ranks;
  for (int rank : others()) {
    const Member& member = members_[static_cast<std::size_t>(rank)];
    if (member.link.culprit() >= 0 && member.calls.size() == 1) ranks.push_back(rank);
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
  std::vector<pollfd> watched{{nudge_.get(), POLLIN, 0}};
  {
    Lock lock(mutex_);
    for (int rank : without_call()) {
      const ControlLink& link = members_[static_cast<std::size_t>(rank)].link;
      if (link.presence() == ControlLink::Presence::present)
        watched.push_back({link.fd(), POLLIN, 0});
    }
  }
  ::poll(watched.data(), watched.size(), static_cast<int>(kSlice.count()));
  silence(nudge_);
}

// ── Messages
// ──────────────────────────────────────────────────────────────────────────────────────

void ControlMesh::announce(int to, const Announcement& announcement) {
  bool unsent = false;
  {
    Lock lock(mutex_);
    ControlLink& link = members_[static_cast<std::size_t>(to)].link;
    link.send(announcement);
    unsent = link.has_unsent();
  }
  if (unsent) wake_watcher();  // who sends the rest
}

void ControlMesh::expect_announcements(bool expected) {
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
  for (int rank : others()) {
    ControlLink& link = members_[static_cast<std::size_t>(rank)].link;
    link.flush();
    for (const ControlMessage& message : link.receive()) take(rank, message);
  }
}

void ControlMesh::take(int from, const ControlMessage& message) {
  Member& member = members_[static_cast<std::size_t>(from)];
  if (const auto* call = std::get_if<Call>(&message)) {
    member.calls.push_back(call->fingerprint);
    member.last_call = call->fingerprint;
  } else if (const auto* announcement = std::get_if<Announcement>(&message)) {
    on_announcement_(from, *announcement);
  } else if (std::holds_alternative<Ask>(message)) {
    member.asks = true;
  } else if (std::holds_alternative<Answer>(message)) {
    ++member.answers;
  }
}

// ── Who is there, and who is to blame
// ─────────────────────────────────────────────────────────────

void ControlMesh::leave(int culprit) {
  Lock lock(mutex_);
  for (int rank : others()) members_[static_cast<std::size_t>(rank)].link.leave(culprit);
}

/// Bounded: a peer that is stopped would keep us for ever.
void ControlMesh::send_the_rest() {
  const Deadline end = Deadline::after(kSendTheRest);
  auto has_unsent = [&] {
    progress();
    Lock lock(mutex_);
    return std::any_of(members_.begin(), members_.end(),
                       [](const Member& member) { return member.link.has_unsent(); });
  };
  while (has_unsent() && !end.passed()) std::this_thread::sleep_for(kSlice / 10);
}

void ControlMesh::look_for_deaths(const std::vector<int>& ranks) {
  const double start = now_seconds();
  const std::size_t first = looks_.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < ranks.size() && now_seconds() - start < kLookSeconds; ++i) {
    const int rank = ranks[(first + i) % ranks.size()];
    if (!run_.store->ending_of(membership_.members[static_cast<std::size_t>(rank)], {})) continue;
    progress();  // it may have said goodbye
    Lock lock(mutex_);
    ControlLink& link = members_[static_cast<std::size_t>(rank)].link;
    if (link.presence() == ControlLink::Presence::present) link.peer_ended();
  }
}

int ControlMesh::blamed_for(int rank) {
  // Blame is passed on at most once a rank; the bound only guards against a circle.
  for (int step = 0; step < membership_.size() && rank != membership_.rank; ++step) {
    const int label = members_[static_cast<std::size_t>(rank)].link.culprit();
    const auto next = label < 0 ? std::nullopt : rank_called(label);
    if (!next) break;
    rank = *next;
  }
  return rank;
}

std::optional<int> ControlMesh::rank_called(int label) const {
  for (int rank = 0; rank < membership_.size(); ++rank)
    if (membership_.labels[static_cast<std::size_t>(rank)] == label) return rank;
  return std::nullopt;
}

std::optional<Loss> ControlMesh::loss_of(int rank) {
  using Presence = ControlLink::Presence;
  int culprit = rank;
  Presence presence = Presence::present;
  Loss loss;
  {
    Lock lock(mutex_);
    if (members_[static_cast<std::size_t>(rank)].link.presence() == Presence::present)
      return std::nullopt;
    culprit = blamed_for(rank);
    presence = members_[static_cast<std::size_t>(culprit)].link.presence();
  }
  // Who blames it may know more than its connection tells.
  if (presence == Presence::present && culprit != membership_.rank) look_for_deaths({culprit});
  {
    Lock lock(mutex_);
    presence = members_[static_cast<std::size_t>(culprit)].link.presence();
    loss.last_call = members_[static_cast<std::size_t>(culprit)].last_call.text();
  }
  loss.rank = membership_.labels[static_cast<std::size_t>(culprit)];
  loss.died = presence == Presence::died;
  loss.what = names_[static_cast<std::size_t>(culprit)];
  if (presence == Presence::present) loss.what += " did not come in time";
  if (presence == Presence::left) loss.what += " left the group";
  if (presence == Presence::died) {
    loss.what += " died";
    // The launcher, if there is one, learns of it a moment after we do.
    const auto how = run_.store->ending_of(membership_.members[static_cast<std::size_t>(culprit)],
                                           std::chrono::milliseconds(1000));
    if (how) loss.what += ": it " + *how;
  }
  if (culprit != rank)
    loss.what += fmt::format(", and rank {} gave up because of it",
                             membership_.labels[static_cast<std::size_t>(rank)]);
  return loss;
}

bool ControlMesh::gone(int rank) {
  Lock lock(mutex_);
  return members_[static_cast<std::size_t>(rank)].link.presence() != ControlLink::Presence::present;
}

bool ControlMesh::failed(int rank) {
  Lock lock(mutex_);
  const ControlLink& link = members_[static_cast<std::size_t>(rank)].link;
  return link.presence() == ControlLink::Presence::died || link.culprit() >= 0;
}

Late ControlMesh::late(int rank) {
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
  // Those that are gone cannot answer, but that is no news.
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
    std::this_thread::sleep_for(kSlice / 5);
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
  return blamed_for(peer);
}

// ── The watcher
// ───────────────────────────────────────────────────────────────────────────────────

void ControlMesh::wake_watcher() {
  ring(wake_);
}

void ControlMesh::watch() {
  while (watch_once()) {
  }
}

/// Sleeps until a connection ends, or until there is something to do for it; false when closing.
bool ControlMesh::watch_once() {
  std::vector<pollfd> watched{{wake_.get(), POLLIN, 0}};
  std::vector<int> ranks{-1};
  {
    Lock lock(mutex_);
    if (closing_) return false;
    for (int rank : others()) {
      const ControlLink& link = members_[static_cast<std::size_t>(rank)].link;
      if (link.presence() != ControlLink::Presence::present) continue;
      short events = POLLRDHUP;
      if (reading_ || catching_up_) events |= POLLIN;
      if (link.has_unsent()) events |= POLLOUT;
      watched.push_back({link.fd(), events, 0});
      ranks.push_back(rank);
    }
  }
  const bool idle =
      ::poll(watched.data(), watched.size(), static_cast<int>(kReadAfter.count())) == 0;
  silence(wake_);
  Lock lock(mutex_);
  bool caught = false;
  for (std::size_t i = 1; i < watched.size(); ++i) {
    if (watched[i].revents == 0 && !idle) continue;
    ControlLink& link = members_[static_cast<std::size_t>(ranks[i])].link;
    link.flush();
    for (const ControlMessage& message : link.receive()) {
      take(ranks[i], message);
      caught |= std::holds_alternative<Announcement>(message);
    }
  }
  // Announcements that nobody read for a while may be many, and their sender waits for room.
  catching_up_ = caught && (idle || catching_up_);
  if (agreeing_) ring(nudge_);
  return true;
}

}  // namespace lockstep::comm
