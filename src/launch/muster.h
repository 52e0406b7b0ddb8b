// Muster: a worker's place in a run whose group changes while it goes on: some workers are lost,
// others join. The workers agree on each new group through the rendezvous, which the launcher
// serves and which so outlives any of them:
//
//   elastic/workers       how many it began with
//   elastic/3/present/5   worker 5 is ready for the third change
//   elastic/3/members     who is in the group after it: "0 1 5". Whoever is first to have seen or
//                         given up everyone sets it, and so decides for all
//   elastic/claimed/0     the first worker to join has this number, counted from those that began
//   elastic/ready/4       worker 4 wants to join
//   elastic/admitted/4    the change that worker 4 is first in, and the members
//   elastic/stop          the run is to stop after a step, for another time
//   elastic/done, end     the run has ended: well, or for the reason that is there
//
// Workers keep their numbers, and nobody gets that of one that was lost.
#pragma once

#include <lockstep/error.h>
#include <lockstep/group.h>

#include "comm/transports.h"
#include "launch/environment.h"
#include "launch/store_client.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::launch {

/// Fewer workers are left than the run is to go on with.
class TooFewError : public Error {
 public:
  using Error::Error;
};

/// The others have gone on without this worker, which they took for lost.
class LeftBehindError : public Error {
 public:
  using Error::Error;
};

/// The others have ended the run, and well.
class RunDoneError : public Error {
 public:
  using Error::Error;
};

/// This worker was asked to stop before it was let in.
class GaveUpError : public Error {
 public:
  using Error::Error;
};

struct MusterOptions {
  GroupOptions group;
  std::size_t least = 1;  ///< workers
  std::size_t most = 1;   ///< who comes when there are as many waits until one is lost
  /// How long a worker that the others take for lost may take to say that it is not.
  std::chrono::milliseconds patience_with_lost = std::chrono::seconds(5);
};

/// One thread at a time.
class Muster {
 public:
  /// Comes to the rendezvous of the run, whose launcher must have set LOCKSTEP_ELASTIC. Throws
  /// UsageError if it has not, or if this worker is to join a run of another transport or version
  /// of Lockstep, and what join_run() throws.
  explicit Muster(const MusterOptions& options);

  /// The run's first group; of a worker that joins, the first that it is in, which may take until
  /// another is lost, or until it is asked to stop: then throws GaveUpError. Throws MismatchError,
  /// on all, if those that begin the run ask for different things. Like again(), throws
  /// PeerLostError and TimeoutError if someone was lost on the way: then call again().
  Group first(const std::function<bool()>& stop_asked = {});

  /// The group after another change. To be called by all members when one of them was lost, or
  /// someone is to join; `suspect` is whom this worker takes for lost, by its number, −1 for
  /// nobody. Throws TooFewError, LeftBehindError, RunDoneError, RendezvousLostError, and Error if
  /// the run is to end.
  /// REQUIRES: the group before is gone.
  Group again(int suspect);

  /// The numbers of those in the newest group, which calls them by these.
  const std::vector<int>& members() const { return members_; }
  /// "rank 2 was ended by signal 9 (Killed)": who is no longer in it, or new; empty for nobody.
  const std::string& change() const { return change_; }
  bool is_first_member() const { return !members_.empty() && members_[0] == number_; }
  /// This worker's.
  int number() const { return number_; }
  /// Whether it was not among those that began the run.
  bool joins() const { return number_ >= began_with_; }
  /// Whether all of them came later, and know of the run only what others told them.
  bool all_joined() const { return !members_.empty() && members_[0] >= began_with_; }

  /// Whether someone is to be let in by again(). Asks the rendezvous about once a second.
  bool someone_waits();

  /// Whether the launcher was asked to stop the run, and has no workers of its own to tell so. Asks
  /// about once a second.
  bool stop_asked();

  /// The first text that a worker of the run gives under this name, for all.
  std::string agree_on(const std::string& name, const std::string& text);

  /// Compares these lines with those of the first worker of the run that gave any under this name,
  /// which is part of the message: "options". The message names both workers. Who is to join and
  /// differs gets a UsageError, and the others do not notice; one that the run begins with ends it,
  /// with a MismatchError.
  void require_like_first(const std::string& name, const std::vector<std::string>& lines);

  /// The run has ended: who comes to again() learns so.
  void done();
  void end(const std::string& why);

 private:
  std::pair<int, std::vector<std::string>> first_lines(const std::string& name,
                                                       const std::vector<std::string>& lines);
  std::string wait_for_admission(const std::function<bool()>& stop_asked);
  std::string admission(const std::function<bool()>& stop_asked);
  void agree_on_change(int suspect);
  void decide(int suspect);
  std::string proposal(const std::set<int>& present);
  std::vector<int> candidates();
  void heed_the_end();
  void take_members(const std::string& text);
  void admit_new(const std::vector<int>& before);
  void describe_change(const std::vector<int>& before);
  Group make(std::chrono::milliseconds patience);

  const MusterOptions options_;
  const int number_;
  const int began_with_;  ///< workers
  std::shared_ptr<StoreClient> store_;
  comm::RunContext run_;
  std::string transport_;
  int changes_ = 0;
  std::vector<int> members_;
  std::string change_;
  Deadline next_look_;       ///< for who waits
  Deadline next_stop_look_;  ///< for whether it is to stop
};

}  // namespace lockstep::launch
