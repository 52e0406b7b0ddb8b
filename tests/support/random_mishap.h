// A rank that comes to grief at a random moment while all do random operations, and what every
// other rank must then say: the same for all transports.
#pragma once

#include "base/random.h"
#include "support/mishap.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <gmock/gmock.h>
#include <vector>

namespace lockstep::testing {

struct RandomMishap {
  int size = 0;
  int victim = 0;
  std::chrono::microseconds delay{};
  std::uint64_t plan = 0;  ///< of do_random_operations
};

inline RandomMishap draw_mishap(Random& random) {
  RandomMishap drawn;
  drawn.size = 2 + static_cast<int>(random.below(4));
  drawn.victim = static_cast<int>(random.below(static_cast<std::uint64_t>(drawn.size)));
  drawn.delay = std::chrono::microseconds(random.below(20'000));
  drawn.plan = random.next();
  return drawn;
}

inline void expect_victim_is_named(const std::vector<std::string>& errors, Mishap mishap,
                                   const RandomMishap& drawn, int round) {
  using ::testing::HasSubstr;
  for (int rank = 0; rank < drawn.size; ++rank) {
    if (rank == drawn.victim) continue;
    EXPECT_THAT(errors[static_cast<std::size_t>(rank)],
                ::testing::AllOf(HasSubstr(fmt::format("rank {} (pid", drawn.victim)),
                                 HasSubstr(mishap == Mishap::stop ? "" : "died")))
        << "round " << round << ", rank " << rank << " of " << drawn.size << ", victim "
        << drawn.victim;
  }
}

}  // namespace lockstep::testing
