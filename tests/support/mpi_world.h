// The processes that mpirun started a test program on. All run the same tests in the same order.
// Each test's body gets a group of its own, which it may break; what came of it is told on a group
// of all processes that no test touches.
#pragma once

#include <lockstep/group.h>

#include "launch/join.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::testing {

/// What the error that `body` throws says; "" if it throws none.
std::string message_of(const std::function<void()>& body);

/// How the ranks of a test talk: all over MPI, or pairs of them share memory as if each pair had a
/// host of its own.
enum class MpiGroups { flat, pretended_hosts };

/// One thread only.
class MpiWorld {
 public:
  /// Whether mpirun started this process.
  static bool there();

  /// Joins on first use.
  static MpiWorld& instance();

  /// Leaves the run, if this process has joined it. Nothing else may follow.
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
  std::optional<Group> all_;  ///< none in a world of one
  int runs_ = 0;              ///< so far: names their groups, alike on all processes
};

}  // namespace lockstep::testing
