// Meeting: all ranks come, each with a notice; when the last has come, all may read all notices and
// go on. A barrier that carries information, and the point at which fingerprints are compared.
#pragma once

#include "base/deadline.h"
#include "comm/shared/loss.h"
#include "comm/shared/shared_space.h"

#include <atomic>
#include <functional>
#include <vector>

namespace lockstep::comm {

/// One rank's side. One thread at a time.
class Meeting {
 public:
  /// Moves this rank's pending messages; true while some are still to be sent.
  using MoveMessages = std::function<bool()>;

  /// `throw_if_stopped` throws once this rank takes no further part.
  Meeting(const SharedSpace& space, int rank, MoveMessages move_messages,
          std::function<void()> throw_if_stopped);

  /// Comes to the next meeting and waits until all are there. Throws PeerLostError if a rank that
  /// has not come is gone, TimeoutError at the deadline; both name the ranks that were missing.
  /// Throws what stopped this rank meanwhile. If it throws, this rank has not come.
  void hold(const Notice& notice, const Deadline& deadline);

  /// The number of the meeting that the next hold() comes to. They count up from 1.
  std::uint64_t next_number() const { return number_ + 1; }

  /// What `rank` announced at the meeting just held. Valid until this rank comes to the next one.
  const Notice& notice_of(int rank) const;

  /// Throws the same MismatchError on all ranks if the calls announced at the meeting just held
  /// differ.
  void require_agreement() const;

  /// See SharedTransport.
  void while_waiting(std::function<void(bool)> tick) { tick_ = std::move(tick); }

  /// Time spent waiting for others, since the beginning. Any thread.
  double seconds_waited() const { return seconds_waited_.load(std::memory_order_relaxed); }

 private:
  /// Why waiting must end, or nothing.
  struct Trouble {
    std::vector<int> missing;
    std::optional<Loss> loss;  ///< nothing if it is the deadline that has passed
  };
  struct GiveUp : Trouble {};  // thrown only within hold

  void wait_until_held(const Deadline& deadline);
  std::uint64_t full_attendance() const;
  bool held() const;
  void look_around(const Deadline& deadline) const;
  bool withdraw();
  [[noreturn]] void report(const Trouble& trouble, const Notice& notice,
                           const Deadline& deadline) const;

  const SharedSpace& space_;
  const Blackboard board_;
  const int rank_;
  const int spins_;
  std::function<void(bool)> tick_;
  const MoveMessages move_messages_;
  const std::function<void()> throw_if_stopped_;
  std::uint64_t number_ = 0;  ///< of the meeting last come to
  std::atomic<double> seconds_waited_{0};
};

}  // namespace lockstep::comm
