// Descendants: what workers started and left running. It ends with the run, even where it has a
// session of its own or its parent has ended.
//
// While a run lasts, the launcher adopts orphans below it (it is their "child subreaper"): in the
// end it ends its adopted children, adopts what these leave, and so on. A launcher that is killed
// can do nothing; for that case a guardian process waits for its end, and then ends the workers'
// process groups and every process that has the launcher's mark in its environment.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <set>
#include <string>

namespace lockstep::launch {

/// One thread at a time. Never touches children that were there before, nor those in the process
/// group of this process.
class Descendants {
 public:
  Descendants();
  /// Ends them, and the guardian.
  ~Descendants();
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;

  /// What workers must have in their environment as kMarkVariable: the marks of all launchers above
  /// them, the innermost last.
  const std::string& mark() const { return mark_; }
  static constexpr const char* kMarkVariable = "LOCKSTEP_LAUNCHERS";

  /// A worker, which leads a process group, was started, or was collected after its end.
  void started(pid_t worker);
  void collected(pid_t worker);

  /// Collects adopted children that have ended. To be called now and then.
  void collect_adopted() { adopted(); }

  /// Ends all but the workers: they have a moment to end by themselves, then get SIGTERM, and a few
  /// seconds later SIGKILL.
  void end();

 private:
  static constexpr std::size_t kMaxWorkers = 1 << 16;
  using Groups = std::atomic<pid_t>[kMaxWorkers];

  std::set<pid_t> adopted() const;
  void start_guardian(const std::string& own_mark);

  std::string mark_;
  std::set<pid_t> before_;    ///< children of this process that are none of the run's
  Groups* groups_ = nullptr;  ///< the running workers, where the guardian sees them, too
  pid_t guardian_ = -1;
  int was_subreaper_ = 0;
};

}  // namespace lockstep::launch
