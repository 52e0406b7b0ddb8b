// Descendants: what workers started and left running. It ends with the run, even where it has a
// session of its own or its parent has ended.
//
// While a run lasts, the launcher adopts orphans below it (it is their "child subreaper"): in the
// end it ends its adopted children, adopts what these leave, and so on. It ends the workers'
// process groups as well, which needs no /proc.
//
// A launcher may adopt processes that are not of its run: as process 1 of a container, or where it
// had children before it started, whose orphans it gets, too. Then only those count that have its
// mark in their environment or are in a worker's process group.
//
// A launcher that is killed can do nothing; for that case a guardian process waits for its end, and
// then ends the workers' process groups and every process that has the launcher's mark in its
// environment.
#pragma once

#include "launch/process_table.h"

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <string>

namespace lockstep::launch {

struct DescendantsOptions {
  /// How long processes may go on after the launcher was killed, before the guardian sends SIGTERM.
  /// Longer for workers that need time to end what they have started, as mpirun does.
  std::chrono::milliseconds patience = std::chrono::seconds(1);
};

/// One thread at a time. Never touches children that were there before, nor those in the process
/// group of this process.
class Descendants {
 public:
  explicit Descendants(const DescendantsOptions& options = {});
  /// Ends them, and the guardian.
  ~Descendants();
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;

  /// What workers must have in their environment as kMarkVariable: the marks of all launchers above
  /// them, the innermost last.
  const std::string& mark() const { return mark_; }

  /// A worker, which leads a process group, was started, or was collected after its end.
  void started(pid_t worker);
  void collected(pid_t worker);

  /// Collects adopted children that have ended. To be called now and then.
  void collect_adopted();

  /// Forgets the process groups of collected workers that have no members left, before their
  /// numbers are used again. Returns whether it has collected a process. To be called often.
  bool collect_groups();

  /// Ends all but the workers: they have a moment to end by themselves, then get SIGTERM, and a few
  /// seconds later SIGKILL.
  void end();

 private:
  static constexpr std::size_t kMaxWorkers = 1 << 16;
  using SharedGroups = std::atomic<pid_t>[kMaxWorkers];

  /// Adds the adopted children of the run that still run; returns whether it has collected any.
  bool collect_adopted(Processes& running);
  bool is_of_run(pid_t adopted) const;
  void start_guardian(std::chrono::milliseconds patience);

  const Processes before_;    ///< children of this process that are not the run's
  const bool adopts_others_;  ///< processes that are not of the run become its children, too
  const std::string own_mark_;
  std::string mark_;
  Processes groups_{};                     ///< process groups of workers that may have members
  SharedGroups* shared_groups_ = nullptr;  ///< the same, where the guardian sees them
  pid_t guardian_ = -1;
  int was_subreaper_ = 0;
};

}  // namespace lockstep::launch
