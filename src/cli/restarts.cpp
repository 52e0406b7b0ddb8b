#include "cli/restarts.h"

#include "cli/command.h"

#include <algorithm>

namespace lockstep::internal::cli {

bool may_start_again(const launch::JobResult& result) {
  const int code = result.code();
  // A signal to a single worker counts as a request to stop the job.
  return code != kSuccess && code != kBadUsage && code != 128 + SIGINT && code != 128 + SIGHUP &&
         code != 128 + SIGUSR1 && code != kStopped && result.interrupted_by == 0;
}

launch::JobResult run_with_restarts(
    int restarts, const std::function<launch::JobResult(int restart)>& run,
    const std::function<void(const launch::JobResult& ended, int restart)>& say) {
  launch::JobResult result = run(0);
  // Node 0 counts the restarts: a launcher that joined at a later one continues from there.
  for (int restart = result.restart + 1; restart <= restarts && may_start_again(result);
       restart = std::max(restart, result.restart) + 1) {
    say(result, restart);
    result = run(restart);
  }
  return result;
}

}  // namespace lockstep::internal::cli
