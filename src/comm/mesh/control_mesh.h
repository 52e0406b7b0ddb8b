// ControlMesh: a control connection between every two ranks of a group, separate from the data
// connections. On it the ranks compare fingerprints, announce messages, and detect that a peer is
// gone. It makes libraries safe that would otherwise hang or abort when ranks disagree or die.
//
// Reading: a rank that waits for the others' calls reads the sockets itself, which saves waking a
// thread. A watcher thread sleeps until a connection ends; it also reads while a message waits for
// an announcement or for a slot.
//
// Thread safety: any thread; agree is called by one thread at a time.
#pragma once

#include "base/net/wake_event.h"
#include "base/thread.h"
#include "base/thread_annotations.h"
#include "comm/failure_attribution.h"
#include "comm/mesh/control_link.h"

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::comm {

class ControlMesh {
 public:
  /// Handles an announcement or an acknowledgement of received messages; returns the answer. Called
  /// by the thread that read it, with the mesh's lock held: it must not call the mesh. Throws Error
  /// for an invalid message: the mesh then treats its sender as dead.
  using OnMessage =
      std::function<std::vector<ControlMessage>(int from, const ControlMessage& message)>;

  /// Takes the first channel of every peer. `transport` is the name in error messages: "gloo".
  ControlMesh(RunContext run, Membership membership, std::string transport,
              std::vector<Peer>& peers, OnMessage on_message);
  ~ControlMesh();

  /// Sets the function that advances this rank's other pending operations; it returns true while
  /// some of them are still to be sent. It is called while this rank waits and throws to end the
  /// wait. REQUIRES: no thread waits.
  void while_waiting(std::function<bool()> move_others) { move_others_ = std::move(move_others); }
  /// Calls that function.
  bool move_others() { return move_others_ && move_others_(); }

  /// Waits for the fingerprints of all ranks. Throws MismatchError, the same on all ranks, if they
  /// differ; PeerLostError and TimeoutError like Transport; Error once this rank has left.
  void agree(const Fingerprint& call, const Deadline& deadline);

  /// Sends an announcement or an acknowledgement.
  void send(int to, const ControlMessage& message);

  /// While true, the watcher reads announcements and acknowledgements, without a call of progress.
  void expect_messages(bool expected);

  /// Reads pending control messages, and answers peers that ask whether this rank is waiting. A
  /// thread that waits for another event calls it regularly.
  void progress();

  /// Tells the peers that this rank leaves, and which rank caused it; no culprit means a normal
  /// end. Calls after the first do nothing.
  void leave(const Culprit& culprit);

  /// Asks the launcher which of these ranks have ended, and treats those as dead. For ranks that
  /// keep this one waiting: a child of a dead rank may hold its connections open.
  void look_for_deaths(const std::vector<int>& ranks);

  /// If `rank` is gone: the rank that caused it, which is `rank` itself or the rank that made it
  /// give up.
  std::optional<LostRank> find_lost_rank(int rank);

  /// The rank that caused the delay if `peer` keeps this one waiting too long: `peer`, or a rank
  /// that does not answer if `peer` is itself waiting. Blocks briefly.
  int culprit_behind(int peer);

  bool gone(int rank);

  /// Gone, and not by a normal end.
  bool failed(int rank);

  /// "rank 2 (pid 4711 on host)", and its last collective.
  LateRank late(int rank);

  ReportingRank me() const { return {transport_, membership_.label()}; }
  /// Time spent waiting for others in agree.
  double seconds_waited() const { return seconds_waited_.load(std::memory_order_relaxed); }

 private:
  /// Longest sleep of a waiting rank between two checks of its peers.
  static constexpr std::chrono::milliseconds kSlice{50};

  struct Member {
    ControlLink link;
    std::deque<Fingerprint> calls;  ///< received, not yet compared
    Fingerprint last_call;
    bool asks = false;          ///< it asked whether we are waiting, and has no answer yet
    std::uint32_t answers = 0;  ///< number of answers to our questions
  };

  std::vector<int> others() const;
  std::optional<int> rank_called(int label) const;
  /// Follows the causes that ranks gave: the rank that made `rank` give up, the rank that made that
  /// one give up, and so on; `rank` itself if it gave no cause. Ranks are numbered within the
  /// group.
  Culprit culprit_for(int rank) REQUIRES_LOCK(mutex_);
  void send_the_rest();

  void read_all() REQUIRES_LOCK(mutex_);
  /// Returns whether an announcement was received.
  bool read_from(int rank) REQUIRES_LOCK(mutex_);
  void take(int from, const ControlMessage& message) REQUIRES_LOCK(mutex_);
  void answer_those_who_ask() REQUIRES_LOCK(mutex_);
  std::vector<int> without_call() REQUIRES_LOCK(mutex_);
  bool all_have_come();
  void wait_for_calls(const Fingerprint& call, const Deadline& deadline);
  std::vector<int> without_call_now();
  /// Ranks that left without making this call. Computed under one lock: the watcher may read a call
  /// and the goodbye behind it at any moment, and a rank that left after making its call is not
  /// lost for this call.
  std::vector<int> gone_without_call_now();
  /// Ranks that made this call and then left because another rank was late or lost. A rank that
  /// arrives later must not start moving data with them, because MPI cannot cancel it.
  std::vector<int> given_up_now();
  /// REQUIRES: the ranks `gone` are no longer present.
  void throw_if_lost(const std::vector<int>& gone, const Fingerprint& call);
  void report_late(const Fingerprint& call, const Deadline& deadline);
  void sleep_until_something_comes();
  std::vector<Fingerprint> take_calls(const Fingerprint& mine);
  /// The ranks of `suspects` that do not answer.
  std::vector<int> silent_among(const std::vector<int>& suspects);

  void watch();
  bool watch_once();
  void wake_watcher();

  const RunContext run_;
  const Membership membership_;
  const std::string transport_;
  const OnMessage on_message_;
  std::function<bool()> move_others_;
  const std::vector<std::string> names_;  ///< "rank 2 (pid 4711 on host)", by rank
  WakeEvent wake_;                        ///< ends the watcher's sleep
  WakeEvent nudge_;                       ///< ends the sleep of the thread in agree
  std::atomic<double> seconds_waited_{0};
  std::atomic<bool> left_{false};  ///< whether this rank has left
  std::atomic<std::size_t> looks_{
      0};  ///< number of checks for deaths; decides which rank is asked about first

  Mutex mutex_;
  std::vector<Member> members_ GUARDED_BY(mutex_);
  bool reading_ GUARDED_BY(mutex_) = false;  ///< whether the watcher reads messages
  /// Whether the watcher reads announcements that no other thread has read.
  bool catching_up_ GUARDED_BY(mutex_) = false;
  bool agreeing_ GUARDED_BY(mutex_) = false;
  bool closing_ GUARDED_BY(mutex_) = false;
  Thread watcher_;
};

}  // namespace lockstep::internal::comm
