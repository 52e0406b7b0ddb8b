// Descendants: processes that workers started and left running. They are ended with the run, even
// if they have their own session or their parent has ended.
//
// During a run, the launcher adopts orphaned descendants (as their "child subreaper"). At the end
// it ends its adopted children, adopts the children of those, and so on. It also ends the workers'
// process groups, which does not need /proc.
//
// A launcher may adopt processes of other runs: as process 1 of a container, or if it had children
// before it started, whose orphans it adopts too. In that case only processes with its mark in
// their environment or in a worker's process group are ended.
//
// A launcher that is killed cannot clean up. For that case a guardian process waits for its end,
// and then ends the workers' process groups and every process with the launcher's mark in its
// environment.
#pragma once

#include "launch/process/process_table.h"

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <string>

namespace lockstep::internal::launch {

struct DescendantsOptions {
  /// How long processes may continue after the launcher was killed, before the guardian sends
  /// SIGTERM. Longer for workers that need time to end their own children, such as mpirun.
  std::chrono::milliseconds grace = std::chrono::seconds(1);
};

/// Thread safety: one thread at a time. Never touches children that existed before, nor processes
/// in this process's own group.
class Descendants {
 public:
  explicit Descendants(const DescendantsOptions& options = {});
  /// Ends all descendants and the guardian.
  ~Descendants();
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;

  /// The value of kMarkVariable for the workers' environment: the marks of all launchers above
  /// them, the innermost last.
  const std::string& mark() const { return mark_; }

  /// Records that a worker, which leads a process group, was started, or that its exit status was
  /// collected.
  void started(pid_t worker);
  void collected(pid_t worker);

  /// Collects adopted children that have ended. Call it regularly.
  void collect_adopted();

  /// Forgets empty process groups of collected workers, before their ids are reused. Returns
  /// whether it collected a process. Call it often.
  bool collect_groups();

  /// Ends all descendants except the workers: they get a moment to end, then SIGTERM, and a few
  /// seconds later SIGKILL.
  void end();

 private:
  static constexpr std::size_t kMaxWorkers = 1 << 16;
  using SharedGroups = std::atomic<pid_t>[kMaxWorkers];

  /// Adds the adopted children of the run that still run; returns whether it collected any.
  bool collect_adopted(Processes& running);
  bool is_of_run(pid_t adopted) const;
  void start_guardian(std::chrono::milliseconds grace);

  const Processes before_;    ///< children of this process that do not belong to the run
  const bool adopts_others_;  ///< whether processes of other runs may become its children too
  const std::string own_mark_;
  std::string mark_;
  Processes groups_{};                     ///< process groups of workers that may have members
  SharedGroups* shared_groups_ = nullptr;  ///< the same, in memory shared with the guardian
  pid_t guardian_ = -1;
  int was_subreaper_ = 0;
};

}  // namespace lockstep::internal::launch
