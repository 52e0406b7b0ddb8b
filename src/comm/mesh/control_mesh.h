// ControlMesh: a connection between every two ranks of a group, beside the one that carries data,
// on which they compare fingerprints, announce messages, and learn that a peer is gone. It is what
// makes libraries safe that would hang or abort where ranks disagree or die.
//
// Who reads it: a rank that waits for the others' calls reads the sockets itself, which saves
// waking a thread. A watcher thread sleeps until a connection ends, and reads along only while
// a message waits for an announcement, or for a slot.
//
// Thread safety: any thread, except that agree is called by one at a time.
#pragma once

#include "base/bell.h"
#include "base/thread_annotations.h"
#include "comm/blame.h"
#include "comm/mesh/control_link.h"

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace lockstep::comm {

class ControlMesh {
 public:
  /// What to do with an announcement, or with the news that announced messages were taken; returns
  /// what to answer. Called by whichever thread read it, with the mesh's lock held: it must not
  /// call the mesh. Throws Error if it makes no sense: its sender is then taken for dead.
  using OnMessage =
      std::function<std::vector<ControlMessage>(int from, const ControlMessage& message)>;

  /// Takes the first channel of every peer. `transport` is what messages call it: "gloo".
  ControlMesh(RunContext run, Membership membership, std::string transport,
              std::vector<Peer>& peers, OnMessage on_message);
  ~ControlMesh();

  /// Moves what else this rank has under way; true while some of it is still to be sent. Called
  /// while this rank waits; throws to end the waiting. Set it while nobody waits.
  void while_waiting(std::function<bool()> move_others) { move_others_ = std::move(move_others); }
  /// Calls it.
  bool move_others() { return move_others_ && move_others_(); }

  /// Waits for all ranks to come with their fingerprints. If they differ, throws the same
  /// MismatchError on all; throws PeerLostError and TimeoutError like Transport, and Error once
  /// this rank has left.
  void agree(const Fingerprint& call, const Deadline& deadline);

  /// Sends an announcement, or says which messages were taken.
  void send(int to, const ControlMessage& message);

  /// While true, what concerns messages is read even if nobody calls progress.
  void expect_messages(bool expected);

  /// Reads what has come, and shows peers that ask that this rank waits. To be called now and then
  /// by whoever waits for something else.
  void progress();

  /// Tells the peers that this rank leaves, and because of whom (nobody: of its own accord). Once
  /// is enough.
  void leave(const Blame& blame);

  /// Asks the launcher whether some of these ranks have ended, and takes those for dead. For ranks
  /// that keep this one waiting: a child of a dead rank may hold its connections open.
  void look_for_deaths(const std::vector<int>& ranks);

  /// If `rank` is gone: who is to blame, itself or whoever made it give up.
  std::optional<Loss> loss_of(int rank);

  /// The rank to blame if `peer` keeps this one waiting too long: whoever does not answer, if
  /// `peer` itself only waits. Takes a moment.
  int culprit_behind(int peer);

  bool gone(int rank);

  /// Gone, and not of its own accord.
  bool failed(int rank);

  /// "rank 2 (pid 4711 on host)", and what it called last.
  Late late(int rank);

  Complainer me() const { return {transport_, membership_.label()}; }
  /// Time spent in agree, waiting for others.
  double seconds_waited() const { return seconds_waited_.load(std::memory_order_relaxed); }

 private:
  /// How long a rank waits without looking around.
  static constexpr std::chrono::milliseconds kSlice{50};

  struct Member {
    ControlLink link;
    std::deque<Fingerprint> calls;  ///< come, and not yet compared
    Fingerprint last_call;
    bool asks = false;          ///< whether we wait, and has no answer yet
    std::uint32_t answers = 0;  ///< to our questions, so far
  };

  std::vector<int> others() const;
  std::optional<int> rank_called(int label) const;
  /// Whoever made `rank` give up, and whoever made that one, and so on; itself if nobody did. Here
  /// ranks are the group's.
  Blame blamed_for(int rank) REQUIRES_LOCK(mutex_);
  void send_the_rest();

  void read_all() REQUIRES_LOCK(mutex_);
  /// Returns whether announcements were among what came.
  bool read_from(int rank) REQUIRES_LOCK(mutex_);
  void take(int from, const ControlMessage& message) REQUIRES_LOCK(mutex_);
  void answer_those_who_ask() REQUIRES_LOCK(mutex_);
  std::vector<int> without_call() REQUIRES_LOCK(mutex_);
  bool all_have_come();
  void wait_for_calls(const Fingerprint& call, const Deadline& deadline);
  std::vector<int> without_call_now();
  /// Those that will not come any more. Asked under one lock: the watcher may read a call and the
  /// goodbye behind it at any moment, and whoever left with its call made is no loss to this call.
  std::vector<int> gone_without_call_now();
  /// Those that came to this call, and left again because somebody was late or lost. Whoever comes
  /// after that must not start moving data with them: MPI could not take it back.
  std::vector<int> given_up_now();
  /// `gone` are ranks that are not present any more.
  void throw_if_lost(const std::vector<int>& gone, const Fingerprint& call);
  void report_late(const Fingerprint& call, const Deadline& deadline);
  void sleep_until_something_comes();
  std::vector<Fingerprint> take_calls(const Fingerprint& mine);
  /// Those of `suspects` that do not answer.
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
  Bell wake_;                             ///< ends the watcher's sleep
  Bell nudge_;                            ///< ends the sleep of whoever waits in agree
  std::atomic<double> seconds_waited_{0};
  std::atomic<bool> left_{false};      ///< this rank
  std::atomic<std::size_t> looks_{0};  ///< for deaths: whom to ask about first

  Mutex mutex_;
  std::vector<Member> members_ GUARDED_BY(mutex_);
  bool reading_ GUARDED_BY(mutex_) = false;      ///< whether the watcher reads along
  bool catching_up_ GUARDED_BY(mutex_) = false;  ///< with announcements that nobody read
  bool agreeing_ GUARDED_BY(mutex_) = false;
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread watcher_;
};

}  // namespace lockstep::comm
