#include "comm/shared/meeting.h"

#include <cstring>
#include <sched.h>
#include <type_traits>

namespace lockstep::comm {

Meeting::Meeting(const SharedSpace& space, int rank, MoveMessages move_messages,
                 std::function<void()> throw_if_stopped)
    : space_(space),
      board_(space.blackboard()),
      rank_(rank),
      spins_(spins_for(board_.size())),
      move_messages_(std::move(move_messages)),
      throw_if_stopped_(std::move(throw_if_stopped)) {}

void Meeting::hold(const Notice& notice, const Deadline& deadline) {
  ++number_;
  RankCell& mine = board_.cell(rank_);
  mine.notices[number_ % 2] = notice;
  GroupHeader& header = board_.header();
  const std::uint64_t came = header.attendance.fetch_add(1, std::memory_order_seq_cst) + 1;
  // After counting: a rank that dies in between has not come, as far as the others are concerned.
  mine.meeting.store(number_, std::memory_order_release);
  if (came == full_attendance()) return header.held.ring();

  const double arrived = now_seconds();
  try {
    wait_until_held(deadline);
  } catch (const GiveUp& trouble) {
    if (withdraw()) report(trouble, notice, deadline);
  } catch (...) {
    if (withdraw()) throw;
  }
  seconds_waited_.store(seconds_waited() + now_seconds() - arrived, std::memory_order_relaxed);
}

void Meeting::wait_until_held(const Deadline& deadline) {
  // Ranks that compute the same come at almost the same time, and then nothing else need be done.
  if (Doorbell::spin(spins_, [&] { return held(); })) return;
  // A peer may come only after it has got what this rank is still sending.
  for (int round = 1; !held() && move_messages_(); ++round) {
    ::sched_yield();
    if (round % 1024 == 0) look_around(deadline);
  }
  board_.header().held.sleep_until([&] { return held(); }, [&] { look_around(deadline); });
}

std::uint64_t Meeting::full_attendance() const {
  return number_ * static_cast<std::uint64_t>(board_.size());
}

bool Meeting::held() const {
  return board_.header().attendance.load(std::memory_order_seq_cst) >= full_attendance();
}

/// Takes back this rank's coming, so that the meeting cannot be held without it; false if it was
/// just held.
bool Meeting::withdraw() {
  std::atomic<std::uint64_t>& attendance = board_.header().attendance;
  std::uint64_t seen = attendance.load(std::memory_order_seq_cst);
  do {
    if (seen >= full_attendance()) return false;
  } while (!attendance.compare_exchange_weak(seen, seen - 1, std::memory_order_seq_cst));
  board_.cell(rank_).meeting.store(number_ - 1, std::memory_order_release);
  return true;
}

const Notice& Meeting::notice_of(int rank) const {
  return board_.cell(rank).notices[number_ % 2];
}

void Meeting::require_agreement() const {
  // As plain words: this is all that agreement costs a collective that goes well.
  static_assert(std::has_unique_object_representations_v<Fingerprint>);
  const Fingerprint mine = notice_of(rank_).call;
  bool agreed = true;
  for (int rank = 0; rank < board_.size(); ++rank)
    agreed &= std::memcmp(&notice_of(rank).call, &mine, sizeof mine) == 0;
  if (agreed) return;
  std::vector<Fingerprint> calls;
  for (int rank = 0; rank < board_.size(); ++rank) calls.push_back(notice_of(rank).call);
  comm::require_agreement(calls);
}

void Meeting::look_around(const Deadline& deadline) const {
  throw_if_stopped_();
  show_waiting(board_, rank_);
  if (tick_) tick_(true);
  GiveUp trouble;
  for (int rank = 0; rank < board_.size(); ++rank) {
    if (rank == rank_) continue;
    if (board_.cell(rank).meeting.load(std::memory_order_acquire) < number_)
      trouble.missing.push_back(rank);
    // Whoever has come and gone before the meeting was held is lost too. A death explains more than
    // a leave, and one is enough: to ask how it came about takes time.
    if (trouble.loss && trouble.loss->died) continue;
    auto loss = loss_of(space_, rank);
    if (loss && (!trouble.loss || (loss->died && !trouble.loss->died)))
      trouble.loss = std::move(loss);
  }
  if (trouble.loss || (deadline.passed() && !trouble.missing.empty())) throw trouble;
}

void Meeting::report(const Trouble& trouble, const Notice& notice, const Deadline& deadline) const {
  const Complainer me{space_.name(), board_.label(rank_)};
  if (trouble.loss) throw lost_in_call(me, notice.call.text(), *trouble.loss);
  // Of those that are missing, some may only wait for another.
  std::vector<int> stuck = stuck_among(board_, rank_, trouble.missing);
  const bool all_wait = stuck.empty();
  if (all_wait) stuck = trouble.missing;
  std::vector<Late> late;
  for (int rank : stuck) late.push_back(board_.late(rank));
  const TimeoutError error = late_in_call(me, notice.call.text(), late, deadline);
  if (all_wait) throw WaitsTooError(error);
  throw error;
}

}  // namespace lockstep::comm
