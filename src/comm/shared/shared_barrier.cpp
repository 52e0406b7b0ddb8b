#include "comm/shared/shared_barrier.h"

#include <cstring>
#include <sched.h>
#include <type_traits>

namespace lockstep::internal::comm {

SharedBarrier::SharedBarrier(const SharedSpace& space, int rank, MoveMessages move_messages,
                             std::function<void()> throw_if_stopped)
    : space_(space),
      group_memory_(space.group_memory()),
      rank_(rank),
      spins_(spins_for(group_memory_.size())),
      move_messages_(std::move(move_messages)),
      throw_if_stopped_(std::move(throw_if_stopped)) {}

void SharedBarrier::wait_for_all(const Notice& notice, const Deadline& deadline) {
  ++number_;
  RankState& mine = group_memory_.rank_state(rank_);
  mine.notices[number_ % 2] = notice;
  GroupHeader& header = group_memory_.header();
  const std::uint64_t came = header.arrivals.fetch_add(1, std::memory_order_seq_cst) + 1;
  // After counting: a rank that dies in between counts as not arrived.
  mine.barrier.store(number_, std::memory_order_release);
  if (came == arrivals_needed()) return header.completed.notify();

  const double arrived = now_seconds();
  try {
    wait_until_complete(deadline);
  } catch (const GiveUp& trouble) {
    if (withdraw()) report(trouble, notice, deadline);
  } catch (...) {
    if (withdraw()) throw;
  }
  seconds_waited_.store(seconds_waited() + now_seconds() - arrived, std::memory_order_relaxed);
}

void SharedBarrier::wait_until_complete(const Deadline& deadline) {
  // Ranks with equal work arrive at almost the same time, and then nothing else is needed.
  if (EventCount::spin(spins_, [&] { return complete(); })) return;
  // A peer may arrive only after it has received the messages this rank is still sending.
  for (int round = 1; !complete() && move_messages_(); ++round) {
    ::sched_yield();
    if (round % 1024 == 0) look_around(deadline);
  }
  group_memory_.header().completed.sleep_until([&] { return complete(); },
                                               [&] { look_around(deadline); });
}

std::uint64_t SharedBarrier::arrivals_needed() const {
  return number_ * static_cast<std::uint64_t>(group_memory_.size());
}

bool SharedBarrier::complete() const {
  return group_memory_.header().arrivals.load(std::memory_order_seq_cst) >= arrivals_needed();
}

/// Withdraws this rank's arrival, so that the barrier cannot complete without it; false if it has
/// just completed.
bool SharedBarrier::withdraw() {
  std::atomic<std::uint64_t>& arrivals = group_memory_.header().arrivals;
  std::uint64_t seen = arrivals.load(std::memory_order_seq_cst);
  do {
    if (seen >= arrivals_needed()) return false;
  } while (!arrivals.compare_exchange_weak(seen, seen - 1, std::memory_order_seq_cst));
  group_memory_.rank_state(rank_).barrier.store(number_ - 1, std::memory_order_release);
  return true;
}

const Notice& SharedBarrier::notice_of(int rank) const {
  return group_memory_.rank_state(rank).notices[number_ % 2];
}

void SharedBarrier::require_agreement() const {
  // Compared as plain words: this is the whole cost of agreement for a successful collective.
  static_assert(std::has_unique_object_representations_v<Fingerprint>);
  const Fingerprint mine = notice_of(rank_).call;
  bool agreed = true;
  for (int rank = 0; rank < group_memory_.size(); ++rank)
    agreed &= std::memcmp(&notice_of(rank).call, &mine, sizeof mine) == 0;
  if (agreed) return;
  std::vector<Fingerprint> calls;
  for (int rank = 0; rank < group_memory_.size(); ++rank) calls.push_back(notice_of(rank).call);
  comm::require_agreement(calls);
}

void SharedBarrier::look_around(const Deadline& deadline) const {
  throw_if_stopped_();
  show_waiting(group_memory_, rank_);
  if (tick_) tick_(true);
  GiveUp trouble;
  for (int rank = 0; rank < group_memory_.size(); ++rank) {
    if (rank == rank_) continue;
    if (group_memory_.rank_state(rank).barrier.load(std::memory_order_acquire) < number_)
      trouble.missing.push_back(rank);
    // A rank that arrived and left before the barrier completed is lost too. A death explains more
    // than a leave, and one is enough: finding its cause takes time.
    if (trouble.lost && trouble.lost->died) continue;
    auto lost = find_lost_rank(space_, rank);
    if (lost && (!trouble.lost || (lost->died && !trouble.lost->died)))
      trouble.lost = std::move(lost);
  }
  if (trouble.lost || (deadline.passed() && !trouble.missing.empty())) throw trouble;
}

void SharedBarrier::report(const Trouble& trouble, const Notice& notice,
                           const Deadline& deadline) const {
  const ReportingRank me{space_.name(), group_memory_.label(rank_)};
  if (trouble.lost) throw lost_in_call(me, notice.call.text(), *trouble.lost);
  // Some of the missing ranks may only be waiting for another rank.
  std::vector<int> stuck = stuck_among(group_memory_, rank_, trouble.missing);
  const bool all_wait = stuck.empty();
  if (all_wait) stuck = trouble.missing;
  std::vector<LateRank> late;
  for (int rank : stuck) late.push_back(group_memory_.late(rank));
  const TimeoutError error = late_in_call(me, notice.call.text(), late, deadline);
  if (all_wait) throw WaitsTooError(error);
  throw error;
}

}  // namespace lockstep::internal::comm
