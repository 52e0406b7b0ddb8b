// Random collectives, the same ones on all ranks: for tests that disturb a group at any moment.
#pragma once

#include <lockstep/group.h>

#include "base/random.h"

#include <cstdint>
#include <vector>

namespace lockstep::internal::testing {

/// Runs one operation after another until one throws. `plan` chooses them: the same on all ranks.
[[noreturn]] inline void do_random_operations(Group& group, std::uint64_t plan) {
  Random same_on_all(plan);
  std::vector<float> values(300'000);
  for (;;) {
    const std::span<float> part = std::span(values).first(same_on_all.below(values.size()));
    switch (same_on_all.below(6)) {
      case 0:
        group.all_reduce(part);
        break;
      case 1:
        group.all_reduce(part, ReduceOp::sum, Algorithm::ring);
        break;
      case 2:
        group.all_reduce(part, ReduceOp::sum, Algorithm::star);
        break;
      case 3:
        group.broadcast(
            part, static_cast<int>(same_on_all.below(static_cast<std::uint64_t>(group.size()))));
        break;
      case 4:
        group.allocate(1 + part.size());
        break;
      default:
        group.barrier();
    }
  }
}

}  // namespace lockstep::internal::testing
