// ElasticMembership: a worker's membership in a run whose group changes: workers are lost, and
// others join. The workers agree on each new group through the rendezvous, which the launcher
// serves and which therefore survives any worker:
//
//   elastic/workers       initial number of workers
//   elastic/3/present/5   worker 5 is ready for the third change
//   elastic/3/members     the group after it: "0 1 5". The first worker that has seen or given up
//                         every other one sets it, and so decides for all
//   elastic/claimed/0     the first joining worker; its number follows the initial ones
//   elastic/ready/4       worker 4 asks to join
//   elastic/admitted/4    the first change that worker 4 takes part in, and the members
//   elastic/stop          the run is to stop after a step, to be resumed later
//   elastic/done, end     the run has ended: successfully, or for the reason given
//
// Workers keep their numbers. The number of a lost worker is not reused.
#pragma once

#include <lockstep/error.h>
#include <lockstep/group.h>

#include "comm/transports.h"
#include "launch/environment/environment.h"
#include "launch/rendezvous/store_client.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::internal::launch {

/// Fewer workers are left than the run requires.
class TooFewError : public Error {
 public:
  using Error::Error;
};

/// The other workers continued without this worker, which they considered lost.
class LeftBehindError : public Error {
 public:
  using Error::Error;
};

/// The other workers have finished the run successfully.
class RunDoneError : public Error {
 public:
  using Error::Error;
};

/// This worker was asked to stop before it was admitted.
class GaveUpError : public Error {
 public:
  using Error::Error;
};

struct MembershipOptions {
  GroupOptions group;
  std::size_t least = 1;  ///< minimum number of workers
  std::size_t most = 1;   ///< maximum number of workers; further ones wait until one is lost
  /// How long a worker that others consider lost may take to report that it is alive.
  std::chrono::milliseconds reply_timeout = std::chrono::seconds(5);
};

/// Thread safety: one thread at a time.
class ElasticMembership {
 public:
  /// Connects to the rendezvous of the run, whose launcher must have set LOCKSTEP_ELASTIC. Throws
  /// UsageError if it has not, or if this worker would join a run with another transport or version
  /// of Lockstep, and the exceptions of join_run().
  explicit ElasticMembership(const MembershipOptions& options);

  /// The run's first group. For a joining worker, the first group it is a member of, which may take
  /// until another worker is lost; throws GaveUpError if it is asked to stop meanwhile. Throws
  /// MismatchError, on all workers, if the initial workers have different requests. Like again(),
  /// throws PeerLostError and TimeoutError if a worker was lost meanwhile: then call again().
  Group first(const std::function<bool()>& stop_asked = {});

  /// The group after another change. All members call it when one of them was lost or another
  /// worker is to join. `suspect` is the number of the worker that this one considers lost, −1 for
  /// none. Throws TooFewError, LeftBehindError, RunDoneError, RendezvousLostError, and Error if the
  /// run is to end.
  /// REQUIRES: the previous group was destroyed.
  Group again(int suspect);

  /// The numbers of the members of the newest group; they are the labels in its messages.
  const std::vector<int>& members() const { return members_; }
  /// The last change: "rank 2 was ended by signal 9 (Killed)", "rank 4 has joined"; empty if there
  /// was none.
  const std::string& change() const { return change_; }
  bool is_first_member() const { return !members_.empty() && members_[0] == number_; }
  /// This worker's number.
  int number() const { return number_; }
  /// Whether this worker joined after the start of the run.
  bool joins() const { return number_ >= began_with_; }
  /// Whether all members joined after the start, and know the run's state only from other workers.
  bool all_joined() const { return !members_.empty() && members_[0] >= began_with_; }

  /// Whether again() would admit a waiting worker. Asks the rendezvous about once per second.
  bool someone_waits();

  /// Whether the launcher was asked to stop the run and has no workers of its own to signal. Asks
  /// about once per second.
  bool stop_asked();

  /// The first text that a worker of the run set under this name; the same for all.
  std::string agree_on(const std::string& name, const std::string& text);

  /// Compares these lines with those of the first worker of the run that set any under this name,
  /// which is part of the message: "options". The message names both workers. A joining worker that
  /// differs gets a UsageError, and the others continue; an initial worker that differs ends the
  /// run with a MismatchError.
  void require_like_first(const std::string& name, const std::vector<std::string>& lines);

  /// Marks the run as ended: workers that call again() get RunDoneError.
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
  void throw_if_run_ended();
  void take_members(const std::string& text);
  void admit_new(const std::vector<int>& before);
  void describe_change(const std::vector<int>& before);
  Group make(std::chrono::milliseconds timeout);

  const MembershipOptions options_;
  const int number_;
  const int began_with_;  ///< initial number of workers
  std::shared_ptr<StoreClient> store_;
  comm::RunContext run_;
  std::string transport_;
  int changes_ = 0;
  std::vector<int> members_;
  std::string change_;
  Deadline next_look_;       ///< when to look for joining workers
  Deadline next_stop_look_;  ///< when to look for a request to stop
};

}  // namespace lockstep::internal::launch
