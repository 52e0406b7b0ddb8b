#include "round.h"

#include "base/deadline.h"

#include <algorithm>

namespace lockstep::internal::benchmarks {

namespace {

constexpr int kFewest = 3;  // repetitions

/// Small integers: their sums are exact in any order.
float value(int rank, std::size_t i) {
  return static_cast<float>((i + static_cast<std::size_t>(rank)) % 8);
}

std::uint64_t count_wrong(Contender& contender, const Ranks& ranks) {
  const std::span<float> values = contender.values();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(ranks.rank(), i);
  contender.all_reduce();
  if (!contender.reduces()) return 0;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    float expected = 0;
    for (int rank = 0; rank < ranks.size(); ++rank) expected += value(rank, i);
    wrong += values[i] != expected;
  }
  return wrong;
}

/// Seconds of the mean repetition on the slowest rank.
double time_repetitions(Contender& contender, Ranks& ranks, int repetitions) {
  ranks.barrier();
  const double start = now_seconds();
  for (int i = 0; i < repetitions; ++i) contender.all_reduce();
  return ranks.max((now_seconds() - start) / repetitions);
}

}  // namespace

Round measure_round(Contender& contender, Ranks& ranks, double seconds) {
  Round round;
  round.wrong =
      static_cast<std::uint64_t>(ranks.max(static_cast<double>(count_wrong(contender, ranks))));
  // Sums of zeros do not overflow.
  std::ranges::fill(contender.values(), 0.0f);
  double best = time_repetitions(contender, ranks, kFewest);
  // Doubles the repetitions until they take long enough at the best rate so far. If the elapsed
  // time decided, a batch during which the machine stalled would be the last one, and its time the
  // result.
  int repetitions = kFewest;
  do {
    round.seconds = time_repetitions(contender, ranks, repetitions);
    best = std::min(best, round.seconds);
    repetitions *= 2;
  } while (repetitions * best < 2 * seconds);
  return round;
}

}  // namespace lockstep::internal::benchmarks
