#include "launch/process/descendants.h"

#include "base/deadline.h"
#include "base/files.h"
#include "base/sleep.h"
#include "base/thread_annotations.h"
#include "base/unique_fd.h"
#include "launch/environment/environment.h"
#include "launch/environment/run_identity.h"
#include "launch/process/process_table.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <utility>

namespace lockstep::internal::launch {

namespace {

/// All workers and guardians that this process has forked, of all current jobs.
class OwnForks {
 public:
  static OwnForks& instance() {
    static OwnForks forks;
    return forks;
  }
  void add(pid_t process) {
    Lock lock(mutex_);
    forks_.insert(process);
  }
  void remove(pid_t process) {
    Lock lock(mutex_);
    forks_.erase(process);
  }
  bool has(pid_t process) {
    Lock lock(mutex_);
    return forks_.count(process) > 0;
  }

 private:
  Mutex mutex_;
  Processes forks_ GUARDED_BY(mutex_);
};

/// The processes to end, as found by one scan.
struct Found {
  Processes groups{};     ///< process groups of workers that still have members
  Processes processes{};  ///< includes the members of those groups
  bool changed = false;   ///< a process was collected just now: it may have left children

  bool nothing() const { return groups.empty() && processes.empty() && !changed; }
};

/// Each process gets SIGTERM once, even as a member of its group: a second one would ask it to
/// hurry.
void signal_found(int signal, const Found& found, Found& told) {
  for (pid_t group : found.groups)
    if (told.groups.insert(group).second || signal == SIGKILL) ::kill(-group, signal);
  for (pid_t process : found.processes) {
    const bool first =
        told.groups.count(::getpgid(process)) == 0 && told.processes.insert(process).second;
    if (first || signal == SIGKILL) ::kill(process, signal);
  }
}

/// Ends the processes that `find` returns, until there are none: after `grace` with SIGTERM, and a
/// few seconds later with SIGKILL.
void end_all(std::chrono::milliseconds grace, const std::function<Found()>& find) {
  const std::pair<int, std::chrono::milliseconds> stages[] = {
      {0, grace}, {SIGTERM, std::chrono::seconds(3)}, {SIGKILL, std::chrono::seconds(10)}};
  for (const auto& [signal, duration] : stages) {
    const Deadline deadline = Deadline::after(duration);
    Found told;
    do {
      const Found found = find();
      if (found.nothing()) return;
      if (signal != 0) signal_found(signal, found, told);
      sleep_for(std::chrono::milliseconds(20));
    } while (!deadline.passed());
  }
}

/// Whether a process group has no members left, not even one whose status was not collected yet.
bool has_ended(pid_t group) {
  return ::kill(-group, 0) != 0 && errno == ESRCH;
}

/// Closes the launcher's descriptors: otherwise its output would seem open and its ports in use.
void let_go_of_everything() {
  [[maybe_unused]] int ignored = ::chdir("/");
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) redirect_to_null(fd);
  if (::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) == 0) return;
  for (pid_t fd : numbers_in("/proc/self/fd"))  // for a kernel before 5.9
    if (fd > STDERR_FILENO) ::close(fd);
}

void wait_for_end_of(pid_t launcher) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, launcher, 0)));
  while (::getppid() == launcher) {
    pollfd ended{process.get(), POLLIN, 0};
    constexpr int kSlice = 100;  // milliseconds, for a kernel without pidfd
    ::poll(&ended, 1, process ? -1 : kSlice);
  }
}

/// In the guardian: blocks the terminal's signals, and all others but SIGKILL.
void become_guardian() {
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "lockstep-guard");
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  let_go_of_everything();
}

}  // namespace

Descendants::Descendants(const DescendantsOptions& options)
    : before_(children_of_this_process()),
      adopts_others_(::getpid() == 1 || !before_.empty()),
      own_mark_(make_run_identity()) {
  ::prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto outer = process_variable(kMarkVariable);
  mark_ = outer ? *outer + ":" + own_mark_ : own_mark_;
  start_guardian(options.grace);
}

Descendants::~Descendants() {
  end();
  if (guardian_ > 0) {
    ::kill(guardian_, SIGKILL);
    while (::waitpid(guardian_, nullptr, 0) < 0 && errno == EINTR) {
    }
    OwnForks::instance().remove(guardian_);
  }
  if (shared_groups_ != nullptr) ::munmap(shared_groups_, sizeof *shared_groups_);
  ::prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
}

/// Without a guardian, for lack of memory or processes, only a killed launcher leaves processes
/// behind.
void Descendants::start_guardian(std::chrono::milliseconds grace) {
  void* memory = ::mmap(nullptr, sizeof *shared_groups_, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  shared_groups_ = static_cast<SharedGroups*>(memory);
  const pid_t launcher = ::getpid();
  std::fflush(nullptr);
  guardian_ = ::fork();
  if (guardian_ > 0) OwnForks::instance().add(guardian_);
  if (guardian_ != 0) return;
  become_guardian();
  wait_for_end_of(launcher);
  Processes groups;
  for (const auto& group : *shared_groups_)
    if (group != 0) groups.insert(group);
  end_all(grace, [&] {
    std::erase_if(groups, has_ended);  // permanently: another process may get the number
    return Found{.groups = groups, .processes = marked_processes(own_mark_)};
  });
  ::_exit(0);
}

void Descendants::started(pid_t worker) {
  OwnForks::instance().add(worker);
  groups_.insert(worker);
  if (shared_groups_ == nullptr) return;
  for (auto& group : *shared_groups_)
    if (pid_t none = 0; group.compare_exchange_strong(none, worker)) return;
}

void Descendants::collected(pid_t worker) {
  OwnForks::instance().remove(worker);
}

bool Descendants::collect_groups() {
  bool changed = false;
  for (auto group = groups_.begin(); group != groups_.end();) {
    const pid_t number = *group++;
    if (OwnForks::instance().has(number)) continue;
    while (::waitpid(-number, nullptr, WNOHANG) > 0) changed = true;
    if (!has_ended(number)) continue;
    groups_.erase(number);
    if (shared_groups_ == nullptr) continue;
    for (auto& shared : *shared_groups_)
      if (pid_t its = number; shared.compare_exchange_strong(its, 0)) break;
  }
  return changed;
}

bool Descendants::is_of_run(pid_t adopted) const {
  return !adopts_others_ || groups_.count(::getpgid(adopted)) > 0 || has_mark(adopted, own_mark_);
}

bool Descendants::collect_adopted(Processes& running) {
  bool changed = collect_groups();
  for (pid_t child : children_of_this_process()) {
    if (before_.count(child) > 0 || OwnForks::instance().has(child) ||
        ::getpgid(child) == ::getpgrp())
      continue;
    const pid_t ended = ::waitpid(child, nullptr, WNOHANG);
    if (ended > 0) changed = true;
    if (ended == 0 && is_of_run(child)) running.insert(child);
  }
  return changed;
}

void Descendants::collect_adopted() {
  Processes running;
  collect_adopted(running);
}

void Descendants::end() {
  constexpr std::chrono::seconds kGrace(1);
  end_all(kGrace, [this] {
    Found found;
    found.changed = collect_adopted(found.processes);
    for (pid_t group : groups_)
      if (!OwnForks::instance().has(group)) found.groups.insert(group);
    return found;
  });
}

}  // namespace lockstep::internal::launch
