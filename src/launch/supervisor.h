// Supervisor: watches a run's worker processes until all have ended, and tells what happened to
// whom.
#pragma once

#include "base/deadline.h"
#include "launch/descendants.h"
#include "launch/outcome.h"

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::launch {

/// While it lives, SIGCHLD, SIGINT, SIGTERM and SIGHUP wait (SIGHUP not where it was ignored, as
/// nohup does): in this thread, and for good in threads that
/// it starts meanwhile, so that only the supervisor takes them.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

/// What else happens while a supervisor waits. Called on its thread, never at the same time.
struct SupervisorHooks {
  /// A worker has ended.
  std::function<void(const Outcome&)> ended;
  /// About ten times a second. True ends this host's workers as a failure among them would: with
  /// `grace`.
  std::function<bool()> stop;
  /// As often. True ends them without any.
  std::function<bool()> overdue{};
  /// As in JobOptions.
  std::chrono::milliseconds interrupt_grace{};
  /// As in JobOptions. Where it is not set, SIGUSR1 is only passed on.
  bool interrupt_gently = false;
  /// As in JobOptions.
  std::function<void(bool again)> interrupted{};
  /// Whether workers go on without those that failed: then a failure ends nobody else.
  bool goes_on = false;
};

class Supervisor {
 public:
  /// Holds the signals back in this thread, and in threads it starts from now on, so that none is
  /// missed. Make it before the first fork.
  explicit Supervisor(const DescendantsOptions& options = {});
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// To be called in the child right after fork: it gets signals of its own and a process group of
  /// its own, so that signals reach what it starts, and dies with its parent.
  static void prepare_child(pid_t parent);

  void add(const Worker& worker);

  /// Returns when all workers have ended. SIGINT, SIGTERM and SIGHUP are passed on to them. After a
  /// failure the others have `grace` to notice and end by themselves, and after an interrupt all
  /// have at least hooks.interrupt_grace; then they get SIGTERM, and a moment later SIGKILL.
  JobResult wait(std::chrono::milliseconds grace, const SupervisorHooks& hooks = {});

  /// Waits a tenth of a second; returns SIGINT, SIGTERM or SIGHUP if one came, else 0. For what is
  /// left to do after wait().
  static int pause();

  /// Ends all workers at once: for a job that could not be started whole.
  void terminate();

  /// Ends what workers started and left running.
  void end_descendants() { descendants_.end(); }
  /// What marks the workers' environment, for a launcher that is killed: see Descendants.
  const std::string& mark() const { return descendants_.mark(); }

 private:
  /// Returns whether it is a second request, which leaves workers only the grace of a failure.
  bool take_interrupt(int signal, JobResult& result, const SupervisorHooks& hooks);
  void reap(JobResult& result, const SupervisorHooks& hooks);
  void signal_all(int signal) const;

  SignalsHeld held_;
  Descendants descendants_;
  std::vector<Worker> running_;
  bool told_ = false;                          ///< to end, for what happened to others
  std::optional<Deadline> interrupted_until_;  ///< a signal until then is no second one
  struct sigaction child_action_before_;
};

}  // namespace lockstep::launch
