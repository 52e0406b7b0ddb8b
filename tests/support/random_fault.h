// A rank that fails at a random moment while all run random operations, and the errors that the
// other ranks must report: the same for all transports.
#pragma once

#include "base/random.h"
#include "support/fault.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <gmock/gmock.h>
#include <vector>

namespace lockstep::internal::testing {

struct RandomFault {
  int size = 0;
  int victim = 0;
  std::chrono::microseconds delay{};
  std::uint64_t plan = 0;  ///< plan for do_random_operations
};

inline RandomFault draw_fault(Random& random) {
  RandomFault drawn;
  drawn.size = 2 + static_cast<int>(random.below(4));
  drawn.victim = static_cast<int>(random.below(static_cast<std::uint64_t>(drawn.size)));
  drawn.delay = std::chrono::microseconds(random.below(20'000));
  drawn.plan = random.next();
  return drawn;
}

inline void expect_victim_is_named(const std::vector<std::string>& errors, Fault fault,
                                   const RandomFault& drawn, int round) {
  using ::testing::HasSubstr;
  for (int rank = 0; rank < drawn.size; ++rank) {
    if (rank == drawn.victim) continue;
    EXPECT_THAT(errors[static_cast<std::size_t>(rank)],
                ::testing::AllOf(HasSubstr(fmt::format("rank {} (pid", drawn.victim)),
                                 HasSubstr(fault == Fault::stop ? "" : "died")))
        << "round " << round << ", rank " << rank << " of " << drawn.size << ", victim "
        << drawn.victim;
  }
}

}  // namespace lockstep::internal::testing
