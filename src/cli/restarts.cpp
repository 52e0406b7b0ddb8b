#include "cli/restarts.h"

#include "cli/command.h"

namespace lockstep::cli {

bool may_start_again(const launch::JobResult& result) {
  const int code = result.code();
  // Whoever interrupts one worker wants no more of it, as with all of them.
  return code != kSuccess && code != kBadUsage && code != 128 + SIGINT && code != kStopped &&
         result.interrupted_by == 0;
}

launch::JobResult run_with_restarts(
    int restarts, const std::function<launch::JobResult(int restart)>& run,
    const std::function<void(const launch::JobResult& ended, int restart)>& say) {
  launch::JobResult result = run(0);
  for (int restart = 1; restart <= restarts && may_start_again(result); ++restart) {
    say(result, restart);
    result = run(restart);
  }
  return result;
}

}  // namespace lockstep::cli
