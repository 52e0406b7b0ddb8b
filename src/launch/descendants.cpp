#include "launch/descendants.h"

#include "base/deadline.h"
#include "base/thread_annotations.h"
#include "base/unique_fd.h"
#include "launch/environment.h"
#include "launch/run_identity.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <dirent.h>
#include <functional>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

namespace lockstep::launch {

namespace {

using Processes = std::set<pid_t>;

/// All processes that this one has forked as workers and guardians, of all jobs under way.
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

/// What a file below /proc has; empty if the process is gone or another user's.
std::string read_proc(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char block[4096];
  for (ssize_t got = 0; file && (got = ::read(file.get(), block, sizeof block)) > 0;)
    text.append(block, static_cast<std::size_t>(got));
  return text;
}

/// The entries of a folder that are numbers.
std::vector<pid_t> numbers_in(const char* path) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    pid_t number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc())
      numbers.push_back(number);
  }
  return numbers;
}

Processes children_of_this_process() {
  Processes children;
  for (pid_t thread : numbers_in("/proc/self/task")) {
    std::istringstream words(read_proc(fmt::format("/proc/self/task/{}/children", thread)));
    for (pid_t child = 0; words >> child;) children.insert(child);
  }
  return children;
}

struct Stage {
  int signal;
  std::chrono::milliseconds patience;
};
constexpr Stage kStages[] = {{0, std::chrono::milliseconds(1000)},
                             {SIGTERM, std::chrono::milliseconds(3000)},
                             {SIGKILL, std::chrono::milliseconds(10'000)}};

/// Ends whatever `find` finds, until it finds nothing. SIGTERM goes to each process once: a second
/// one would mean that it is to hurry.
void end_all(const std::function<Processes()>& find) {
  for (const auto& [signal, patience] : kStages) {
    const Deadline deadline = Deadline::after(patience);
    Processes told;
    do {
      const Processes left = find();
      if (left.empty()) return;
      for (pid_t process : left)
        if (signal == SIGKILL || (signal != 0 && told.insert(process).second))
          ::kill(process, signal);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } while (!deadline.passed());
  }
}

/// Closes all that belongs to the launcher: its output would seem to go on, its ports to be in use.
void let_go_of_everything() {
  [[maybe_unused]] int ignored = ::chdir("/");
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
  if (::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) == 0) return;
  for (pid_t fd : numbers_in("/proc/self/fd"))  // a kernel before 5.9
    if (fd > STDERR_FILENO) ::close(fd);
}

void wait_for_end_of(pid_t launcher) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, launcher, 0)));
  while (::getppid() == launcher) {
    pollfd ended{process.get(), POLLIN, 0};
    constexpr int kSlice = 100;  // milliseconds, where the kernel has no such descriptors
    ::poll(&ended, 1, process ? -1 : kSlice);
  }
}

/// Those that are in one of these process groups or have the mark in their environment.
Processes marked_processes(const Processes& groups, const std::string& mark) {
  Processes found;
  for (pid_t process : numbers_in("/proc")) {
    if (process == ::getpid()) continue;
    // "4711 (name) S parent group": the name may have spaces and brackets in it.
    const std::string stat = read_proc(fmt::format("/proc/{}/stat", process));
    std::istringstream fields(stat.substr(std::min(stat.rfind(')'), stat.size() - 1) + 1));
    char state = 0;
    pid_t parent = 0;
    pid_t group = 0;
    if (!(fields >> state >> parent >> group) || state == 'Z') continue;
    if (groups.count(group) > 0 ||
        read_proc(fmt::format("/proc/{}/environ", process)).find(mark) != std::string::npos)
      found.insert(process);
  }
  return found;
}

/// In the guardian: out of reach of the terminal's signals, and of all others but SIGKILL.
void become_guardian() {
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "lockstep-guard");
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  let_go_of_everything();
}

}  // namespace

Descendants::Descendants() : before_(children_of_this_process()) {
  ::prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::string own = make_run_identity();
  const auto outer = process_variable(kMarkVariable);
  mark_ = outer ? *outer + ":" + own : own;
  start_guardian(own);
}

Descendants::~Descendants() {
  end();
  if (guardian_ > 0) {
    ::kill(guardian_, SIGKILL);
    while (::waitpid(guardian_, nullptr, 0) < 0 && errno == EINTR) {
    }
    OwnForks::instance().remove(guardian_);
  }
  if (groups_ != nullptr) ::munmap(groups_, sizeof *groups_);
  ::prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
}

/// Without a guardian, for want of memory or processes, a run is none the worse until its launcher
/// is killed.
void Descendants::start_guardian(const std::string& own_mark) {
  void* memory = ::mmap(nullptr, sizeof *groups_, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  groups_ = static_cast<Groups*>(memory);
  const pid_t launcher = ::getpid();
  std::fflush(nullptr);
  guardian_ = ::fork();
  if (guardian_ > 0) OwnForks::instance().add(guardian_);
  if (guardian_ != 0) return;
  become_guardian();
  wait_for_end_of(launcher);
  Processes groups;
  for (const auto& group : *groups_)
    if (group != 0) groups.insert(group);
  end_all([&] { return marked_processes(groups, own_mark); });
  ::_exit(0);
}

void Descendants::started(pid_t worker) {
  OwnForks::instance().add(worker);
  if (groups_ == nullptr) return;
  for (auto& group : *groups_)
    if (pid_t none = 0; group.compare_exchange_strong(none, worker)) return;
}

void Descendants::collected(pid_t worker) {
  OwnForks::instance().remove(worker);
  if (groups_ == nullptr) return;
  for (auto& group : *groups_)
    if (pid_t its = worker; group.compare_exchange_strong(its, 0)) return;
}

/// The adopted children that still run; those that have ended are collected.
std::set<pid_t> Descendants::adopted() const {
  Processes running;
  for (pid_t child : children_of_this_process()) {
    if (before_.count(child) > 0 || OwnForks::instance().has(child) ||
        ::getpgid(child) == ::getpgrp())
      continue;
    if (::waitpid(child, nullptr, WNOHANG) == 0) running.insert(child);
  }
  return running;
}

void Descendants::end() {
  end_all([this] { return adopted(); });
}

}  // namespace lockstep::launch
