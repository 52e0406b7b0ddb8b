#include "launch/process/supervisor.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

namespace lockstep::internal::launch {

namespace {

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGUSR1}) sigaddset(&signals, signal);
  // Sent when the terminal or the ssh session is gone. Under nohup it is ignored, and stays
  // ignored.
  struct sigaction hang_up {};
  if (::sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN)
    sigaddset(&signals, SIGHUP);
  return signals;
}

/// Waits for one of the signals; 0 after a short while without any.
int next_signal() {
  const sigset_t signals = watched_signals();
  const timespec while_{0, 100'000'000};
  return std::max(0, ::sigtimedwait(&signals, nullptr, &while_));
}

}  // namespace

SignalsHeld::SignalsHeld() {
  const sigset_t signals = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

SignalsHeld::~SignalsHeld() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Supervisor::Supervisor(const DescendantsOptions& options) : descendants_(options) {
  // If SIGCHLD were ignored, the kernel would discard the workers' exit status.
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &action, &child_action_before_);
}

Supervisor::~Supervisor() {
  terminate();
  ::sigaction(SIGCHLD, &child_action_before_, nullptr);
}

void Supervisor::prepare_child(pid_t parent) {
  ::setpgid(0, 0);
  const sigset_t signals = watched_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the death signal was set.
  if (::getppid() != parent) ::_exit(1);
}

void Supervisor::add(const Worker& worker) {
  ::setpgid(worker.pid, worker.pid);  // parent and child both do this, because either may run first
  running_.push_back(worker);
  descendants_.started(worker.pid);
}

JobResult Supervisor::wait(std::chrono::milliseconds grace, const SupervisorHooks& hooks) {
  constexpr std::chrono::seconds kBeforeKill(3);  // between SIGTERM and SIGKILL
  JobResult result;
  std::optional<Deadline> terminate;
  std::optional<Deadline> kill;
  reap(result, hooks);
  while (!running_.empty()) {
    const int signal = next_signal();
    if (signal == SIGCHLD)
      descendants_.collect_adopted();
    else if (signal == SIGUSR1 && !hooks.interrupt_gently)
      signal_all(signal);  // forwarded unchanged
    else if (signal != 0 && take_interrupt(signal, result, hooks) && !kill)
      terminate = Deadline::after(std::min(grace, terminate->left()));
    const bool stop = hooks.stop && hooks.stop();
    reap(result, hooks);
    descendants_.collect_groups();
    const bool failed = result.first_failure && !hooks.goes_on;
    // Workers may need longer to end cleanly than to detect a failed peer.
    if (!terminate && result.interrupted_by != 0)
      terminate = Deadline::after(std::max(grace, hooks.interrupt_grace));
    if (!terminate && (stop || failed)) terminate = Deadline::after(grace);
    if (!kill && hooks.overdue && hooks.overdue()) terminate = Deadline::after({});
    if (terminate && terminate->passed() && !kill) {
      told_ = true;
      signal_all(SIGTERM);
      kill = Deadline::after(kBeforeKill);
    }
    if (kill && kill->passed()) signal_all(SIGKILL);
  }
  return result;
}

bool Supervisor::take_interrupt(int signal, JobResult& result, const SupervisorHooks& hooks) {
  const bool again = result.interrupted_by != 0;
  // A second ^C, or a shell's SIGHUP after the terminal's.
  const bool counts = !again || interrupted_until_->passed();
  if (!counts && hooks.interrupt_gently) return false;
  if (!again) interrupted_until_ = Deadline::after(std::chrono::seconds(1));
  result.interrupted_by = signal;
  signal_all(!again && hooks.interrupt_gently ? SIGUSR1 : signal);
  if (hooks.interrupted) hooks.interrupted(again);
  return again && counts;
}

int Supervisor::pause() {
  const int signal = next_signal();
  return signal == SIGCHLD || signal == SIGUSR1 ? 0 : signal;
}

void Supervisor::terminate() {
  signal_all(SIGKILL);
  for (const Worker& worker : running_) {
    ::waitpid(worker.pid, nullptr, 0);
    descendants_.collected(worker.pid);
  }
  running_.clear();
}

void Supervisor::reap(JobResult& result, const SupervisorHooks& hooks) {
  std::optional<Outcome> failure;
  for (auto worker = running_.begin(); worker != running_.end();) {
    int status = 0;
    const pid_t ended = ::waitpid(worker->pid, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) {
      ++worker;
      continue;
    }
    Outcome outcome{*worker};
    outcome.when = now_seconds();
    outcome.told = told_;
    if (ended < 0)
      outcome.unknown = true;
    else if (WIFSIGNALED(status))
      outcome.signal = WTERMSIG(status);
    else
      outcome.exit_code = WEXITSTATUS(status);
    // Among workers that ended at the same time, one ended by a signal is the likelier cause.
    if (outcome.failed() && (!failure || (outcome.signal != 0 && failure->signal == 0)))
      failure = outcome;
    result.outcomes.push_back(outcome);
    descendants_.collected(worker->pid);
    worker = running_.erase(worker);
    if (hooks.ended) hooks.ended(outcome);
  }
  if (!result.first_failure) result.first_failure = failure;
}

void Supervisor::signal_all(int signal) const {
  for (const Worker& worker : running_) ::kill(-worker.pid, signal);
}

}  // namespace lockstep::internal::launch
