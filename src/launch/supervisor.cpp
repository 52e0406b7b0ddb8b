#include "launch/supervisor.h"

#include "base/deadline.h"

#include <fmt/format.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lockstep::launch {

namespace {

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&signals, signal);
  return signals;
}

/// Waits for one of the signals; 0 after a short while without any.
int next_signal() {
  const sigset_t signals = watched_signals();
  const timespec while_{0, 100'000'000};
  return std::max(0, ::sigtimedwait(&signals, nullptr, &while_));
}

}  // namespace

std::string Outcome::text() const {
  const std::string who = fmt::format("rank {} (pid {})", rank, pid);
  if (signal != 0)
    return fmt::format("{} was ended by signal {} ({})", who, signal, ::strsignal(signal));
  return fmt::format("{} exited with code {}", who, exit_code);
}

int JobResult::code() const {
  if (interrupted_by != 0) return 128 + interrupted_by;
  return first_failure ? first_failure->code() : 0;
}

Supervisor::Supervisor() {
  const sigset_t signals = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  // Where SIGCHLD was ignored the kernel would forget how the workers ended.
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &action, &child_action_before_);
}

Supervisor::~Supervisor() {
  terminate();
  ::sigaction(SIGCHLD, &child_action_before_, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Supervisor::prepare_child(pid_t parent) {
  ::setpgid(0, 0);
  const sigset_t signals = watched_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before it could be watched.
  if (::getppid() != parent) ::_exit(1);
}

void Supervisor::add(int rank, pid_t pid) {
  ::setpgid(pid, pid);  // the child does the same: whoever comes first
  running_.push_back({rank, pid});
}

JobResult Supervisor::wait(std::chrono::milliseconds grace) {
  constexpr std::chrono::seconds kPatience(3);  // between SIGTERM and SIGKILL
  JobResult result;
  std::optional<Deadline> terminate;
  std::optional<Deadline> kill;
  reap(result);
  while (!running_.empty()) {
    const int signal = next_signal();
    if (signal == SIGINT || signal == SIGTERM) {
      result.interrupted_by = signal;
      signal_all(signal);
    }
    reap(result);
    if (!terminate && (result.first_failure || result.interrupted_by != 0))
      terminate = Deadline::after(grace);
    if (terminate && terminate->passed() && !kill) {
      signal_all(SIGTERM);
      kill = Deadline::after(kPatience);
    }
    if (kill && kill->passed()) signal_all(SIGKILL);
  }
  return result;
}

void Supervisor::terminate() {
  signal_all(SIGKILL);
  for (const Worker& worker : running_) ::waitpid(worker.pid, nullptr, 0);
  running_.clear();
}

void Supervisor::reap(JobResult& result) {
  std::optional<Outcome> failure;
  for (auto worker = running_.begin(); worker != running_.end();) {
    int status = 0;
    const pid_t ended = ::waitpid(worker->pid, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) {
      ++worker;
      continue;
    }
    Outcome outcome{worker->rank, worker->pid, 0, 0};
    if (WIFSIGNALED(status))
      outcome.signal = WTERMSIG(status);
    else
      outcome.exit_code = WEXITSTATUS(status);
    // Among those that ended at once, a signal is the likelier cause.
    if (outcome.failed() && (!failure || (outcome.signal != 0 && failure->signal == 0)))
      failure = outcome;
    result.outcomes.push_back(outcome);
    worker = running_.erase(worker);
  }
  if (!result.first_failure) result.first_failure = failure;
}

void Supervisor::signal_all(int signal) const {
  for (const Worker& worker : running_) ::kill(-worker.pid, signal);
}

}  // namespace lockstep::launch
