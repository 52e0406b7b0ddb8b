// SharedBarrier: a barrier at which each rank announces a notice; when the last rank has arrived,
// all may read all notices. Fingerprints are compared here.
#pragma once

#include "base/deadline.h"
#include "comm/shared/lost_rank.h"
#include "comm/shared/shared_space.h"

#include <atomic>
#include <functional>
#include <vector>

namespace lockstep::internal::comm {

/// One rank's side of the barrier. Thread safety: one thread at a time.
class SharedBarrier {
 public:
  /// Advances this rank's pending messages; true while some are still to be sent.
  using MoveMessages = std::function<bool()>;

  /// `throw_if_stopped` throws once this rank takes no further part.
  SharedBarrier(const SharedSpace& space, int rank, MoveMessages move_messages,
                std::function<void()> throw_if_stopped);

  /// Arrives at the next barrier and waits until all ranks have. Throws PeerLostError if a missing
  /// rank is gone, and TimeoutError at the deadline; both name the missing ranks. Also throws the
  /// error that stopped this rank meanwhile. If it throws, this rank's arrival is withdrawn.
  void wait_for_all(const Notice& notice, const Deadline& deadline);

  /// The number of the barrier that the next wait_for_all() arrives at, from 1.
  std::uint64_t next_number() const { return number_ + 1; }

  /// The notice of `rank` at the last completed barrier. Valid until this rank arrives at the next
  /// one.
  const Notice& notice_of(int rank) const;

  /// Throws MismatchError, the same on all ranks, if the calls announced at the last completed
  /// barrier differ.
  void require_agreement() const;

  /// See SharedTransport.
  void while_waiting(std::function<void(bool)> tick) { tick_ = std::move(tick); }

  /// Total time spent waiting for others. Thread safety: any thread.
  double seconds_waited() const { return seconds_waited_.load(std::memory_order_relaxed); }

 private:
  /// Why a wait must end.
  struct Trouble {
    std::vector<int> missing;
    std::optional<LostRank> lost;  ///< empty if the deadline has passed
  };
  struct GiveUp : Trouble {};  // thrown only within wait_for_all

  void wait_until_complete(const Deadline& deadline);
  std::uint64_t arrivals_needed() const;
  bool complete() const;
  void look_around(const Deadline& deadline) const;
  bool withdraw();
  [[noreturn]] void report(const Trouble& trouble, const Notice& notice,
                           const Deadline& deadline) const;

  const SharedSpace& space_;
  const GroupMemory group_memory_;
  const int rank_;
  const int spins_;
  std::function<void(bool)> tick_;
  const MoveMessages move_messages_;
  const std::function<void()> throw_if_stopped_;
  std::uint64_t number_ = 0;  ///< number of the last barrier arrived at
  std::atomic<double> seconds_waited_{0};
};

}  // namespace lockstep::internal::comm
