#include "sync/on_rank_zero.h"

#include "base/thread.h"

#include <vector>

namespace lockstep::internal::sync {

void on_rank_zero(Group& group, const std::function<void()>& work) {
  if (group.size() == 1) return work();
  constexpr std::chrono::milliseconds kBetweenSigns(200);  // far below any time-out
  std::future<void> ending;
  if (group.rank() == 0) ending = call_on_thread("work of rank 0", work);
  for (std::vector<std::uint8_t> ended{0}; ended[0] == 0;) {
    if (ending.valid() && ending.wait_for(kBetweenSigns) == std::future_status::ready) {
      ending.get();
      ended[0] = 1;
    }
    group.broadcast(ended);
  }
}

}  // namespace lockstep::internal::sync
