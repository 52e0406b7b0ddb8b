// The processes of a test program that mpirun started. All run the same tests in the same order.
// Each test's body gets its own group, which it may break; the result is exchanged on a group of
// all processes that no test uses.
#pragma once

#include <lockstep/group.h>

#include "launch/rendezvous/join_run.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::testing {

/// The message of the error that `body` throws; empty if it throws none.
std::string message_of(const std::function<void()>& body);

/// How the ranks of a test communicate: all over MPI, or with shared memory in pairs, as if each
/// pair had its own host.
enum class MpiGroups { flat, pretended_hosts };

/// Thread safety: one thread only.
class MpiWorld {
 public:
  /// Whether mpirun started this process.
  static bool there();

  /// Joins the run on first use.
  static MpiWorld& instance();

  /// Leaves the run, if this process has joined it. No other call may follow.
  static void leave();

  int rank() const { return joined_.world.rank; }
  int size() const { return joined_.world.size(); }

  /// Runs `body` on the first `size` processes, while the others wait. Returns on all of them the
  /// message of the error that each rank threw. REQUIRES: size <= this->size().
  std::vector<std::string> run(MpiGroups groups, int size, const std::function<void(Group)>& body,
                               const GroupOptions& options);

 private:
  MpiWorld();
  Group make_group(MpiGroups groups, int size, const GroupOptions& options);

  launch::Joined joined_;
  std::optional<Group> all_;  ///< empty in a world of one
  int runs_ = 0;  ///< number of runs so far: part of the group names, equal on all processes
};

}  // namespace lockstep::internal::testing
