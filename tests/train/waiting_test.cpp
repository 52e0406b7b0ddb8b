// Waiting for other ranks: the part of the exposed time until the last rank had its gradients.
#include "train/elastic/replicated_recorder.h"
#include "train/record/common_clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::internal::train {
namespace {

/// A step of a rank that had its gradients at `arrived`; all seconds.
run::Record step(double arrived, double exposed, double waited_before = 0) {
  run::Record record;
  record.arrived = arrived;
  record.times = {.exposed = exposed, .wait = waited_before, .total = 1};
  return record;
}

/// The waiting of every rank, by rank and iteration, from the steps of all ranks.
std::vector<std::vector<double>> waiting(const std::vector<std::vector<run::Record>>& steps,
                                         int lead = 0) {
  std::vector<std::vector<double>> waited(steps.size());
  run_threads(static_cast<int>(steps.size()), [&](Group group) {
    RecordGatherer gatherer(group, lead, [&](int rank, std::span<const run::Record> records) {
      for (const run::Record& record : records)
        waited[static_cast<std::size_t>(rank)].push_back(record.times.wait);
    });
    for (const run::Record& record : steps[static_cast<std::size_t>(group.rank())])
      gatherer.add(record);
    gatherer.flush();
  });
  return waited;
}

using Waits = std::vector<std::vector<double>>;

TEST(Waiting, LastsUntilTheLastRankHasItsGradients) {
  // Rank 1 is a straggler in the first step, rank 0 in the second.
  EXPECT_EQ(
      waiting({{step(10, 6), step(24, 2)}, {step(14, 2), step(22, 4)}, {step(13, 3), step(24, 2)}}),
      (Waits{{4, 0}, {0, 2}, {1, 0}}));
}

TEST(Waiting, IsAtMostTheExposedTime) {
  EXPECT_EQ(waiting({{step(10, 0.5)}, {step(14, 2)}}), (Waits{{0.5}, {0}}));
}

TEST(Waiting, OfAMethodThatCommunicatesEveryFourthStepIsInThatStep) {
  // Between the averages of the weights the faster rank runs ahead and waits for none.
  const std::vector<run::Record> fast{step(1, 0), step(2, 0), step(3, 0), step(4, 5)};
  const std::vector<run::Record> slow{step(2, 0), step(4, 0), step(6, 0), step(8, 1)};
  EXPECT_EQ(waiting({fast, slow}), (Waits{{0, 0, 0, 4}, {0, 0, 0, 0}}));
}

TEST(Waiting, OfAnAsynchronousServerIsForTheStepThatIsTooFarBehind) {
  // With a lead of 1, step 3 of the faster rank waits for step 2 of the slower one.
  const std::vector<run::Record> fast{step(1, 0.5), step(2, 2.5), step(4.5, 4)};
  const std::vector<run::Record> slow{step(4, 0.5), step(8, 0.5), step(12, 0.5)};
  EXPECT_EQ(waiting({fast, slow}, 1), (Waits{{0, 2, 3.5}, {0, 0, 0}}));
}

TEST(Waiting, WithinBackwardCountsToo) {
  EXPECT_EQ(waiting({{step(10, 6, 1.5)}, {step(14, 2, 0)}}), (Waits{{5.5}, {0}}));
}

TEST(Waiting, IsTheSameInElasticRuns) {
  run_threads(2, [](Group group) {
    std::vector<double> waited(2);
    ReplicatedRecorder recorder(group,
                                [&](int rank, std::span<const run::Record> records) {
                                  waited[static_cast<std::size_t>(rank)] = records[0].times.wait;
                                },
                                {});
    const run::Record mine = group.rank() == 0 ? step(10, 6) : step(14, 2);
    recorder.exchange(mine, false);
    recorder.complete(mine);
    recorder.flush();
    if (group.rank() != 0) return;
    EXPECT_EQ(waited, (std::vector<double>{4, 0}));
  });
}

TEST(CommonClock, IsTheSteadyClockOnOneHost) {
  run_threads(2, [](Group group) {
    const CommonClock clock(group);
    EXPECT_EQ(clock.at(5), 5);
  });
}

TEST(CommonClock, FollowsTheClocksOfOtherHosts) {
  run_threads(3, [](Group group) {
    double ahead = 100.0 * group.rank();
    CommonClock clock(group, "host " + std::to_string(group.rank()),
                      [&] { return now_seconds() + ahead; });
    const auto error = [&] { return std::abs(clock.at(now_seconds() + ahead) - now_seconds()); };
    EXPECT_LT(error(), 10);
    group.barrier();
    ahead += 1000.0 * group.rank();  // as after a day with a wrong rate
    clock.after_step(1e6);
    EXPECT_LT(error(), 10);
  });
}

}  // namespace
}  // namespace lockstep::internal::train
