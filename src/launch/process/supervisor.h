// Supervisor: watches a run's worker processes until all have ended, and reports how each ended.
#pragma once

#include "base/deadline.h"
#include "launch/process/descendants.h"
#include "launch/process/outcome.h"

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::launch {

/// While it exists, SIGCHLD, SIGINT, SIGTERM and SIGHUP are blocked (SIGHUP not if it was ignored,
/// as under nohup): in this thread, and permanently in threads that it starts meanwhile, so that
/// only the supervisor receives them.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

/// Callbacks while a supervisor waits. Called on its thread, one at a time.
struct SupervisorHooks {
  /// A worker has ended.
  std::function<void(const Outcome&)> ended;
  /// Called about ten times per second. Returning true ends this host's workers like a failure
  /// among them: with `grace`.
  std::function<bool()> stop;
  /// Called as often. Returning true ends the workers without any grace.
  std::function<bool()> overdue{};
  /// See JobOptions.
  std::chrono::milliseconds interrupt_grace{};
  /// See JobOptions. If it is not set, SIGUSR1 is forwarded unchanged.
  bool interrupt_gently = false;
  /// See JobOptions.
  std::function<void(bool again)> interrupted{};
  /// Whether workers survive the failure of others: then a failure ends no other worker.
  bool goes_on = false;
};

class Supervisor {
 public:
  /// Blocks the signals in this thread, and in threads it starts from now on, so that none is
  /// missed. Make it before the first fork.
  explicit Supervisor(const DescendantsOptions& options = {});
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Call it in the child right after fork: it gets its own signal state and process group, so that
  /// signals reach its children, and it dies with its parent.
  static void prepare_child(pid_t parent);

  void add(const Worker& worker);

  /// Returns when all workers have ended. SIGINT, SIGTERM and SIGHUP are forwarded to them. After a
  /// failure the others have `grace` to detect it and end, and after an interrupt all have at least
  /// hooks.interrupt_grace; then they get SIGTERM, and a moment later SIGKILL.
  JobResult wait(std::chrono::milliseconds grace, const SupervisorHooks& hooks = {});

  /// Waits a tenth of a second; returns SIGINT, SIGTERM or SIGHUP if one arrived, else 0. For the
  /// time after wait().
  static int pause();

  /// Ends all workers at once: for a job that could not be started completely.
  void terminate();

  /// Ends processes that workers started and left running.
  void end_descendants() { descendants_.end(); }
  /// The mark for the workers' environment, in case the launcher is killed: see Descendants.
  const std::string& mark() const { return descendants_.mark(); }

 private:
  /// Returns whether it is a second request, which leaves workers only the grace of a failure.
  bool take_interrupt(int signal, JobResult& result, const SupervisorHooks& hooks);
  void reap(JobResult& result, const SupervisorHooks& hooks);
  void signal_all(int signal) const;

  SignalsHeld held_;
  Descendants descendants_;
  std::vector<Worker> running_;
  bool told_ = false;  ///< the workers were told to end because of other workers
  /// A signal before this deadline is not a second request.
  std::optional<Deadline> interrupted_until_;
  struct sigaction child_action_before_;
};

}  // namespace lockstep::internal::launch
