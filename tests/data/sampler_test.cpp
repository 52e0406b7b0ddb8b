#include "data/sampler.h"

#include <lockstep/error.h>

#include "data_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace lockstep::internal::data {
namespace {

std::vector<std::uint32_t> copy(std::span<const std::uint32_t> values) {
  return {values.begin(), values.end()};
}

std::vector<std::uint32_t> whole_epoch(Sampler& sampler, std::uint64_t epoch) {
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < sampler.batches_per_epoch(); ++i) {
    const auto batch = sampler.batch(epoch, i);
    order.insert(order.end(), batch.begin(), batch.end());
  }
  return order;
}

std::vector<std::uint32_t> counting(std::size_t count) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), 0u);
  return values;
}

TEST(Slice, SlicesCoverAllItems) {
  for (int size : {1, 2, 3, 4, 7, 16})
    for (std::size_t count : {0, 1, size - 1, size, size + 1, 255, 256, 10'000}) {
      std::size_t end = 0;
      for (int rank = 0; rank < size; ++rank) {
        const Range range = slice_of(count, rank, size);
        EXPECT_EQ(range.begin, end);
        EXPECT_GE(range.size(), count / static_cast<std::size_t>(size));
        EXPECT_LE(range.size(), count / static_cast<std::size_t>(size) + 1);
        end = range.end;
      }
      EXPECT_EQ(end, count);
    }
}

TEST(Slice, FollowsTheFormula) {
  EXPECT_EQ(slice_of(10, 0, 4), (Range{0, 2}));
  EXPECT_EQ(slice_of(10, 1, 4), (Range{2, 5}));
  EXPECT_EQ(slice_of(10, 2, 4), (Range{5, 7}));
  EXPECT_EQ(slice_of(10, 3, 4), (Range{7, 10}));
}

TEST(Slice, DoesNotOverflow) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(slice_of(kMost, 2, 3).end, kMost);
  EXPECT_EQ(slice_of(kMost, 2, 3).begin, kMost / 3 * 2);
}

TEST(Slice, RefusesARankOutsideTheWorld) {
  for (auto [rank, size] : {std::pair{4, 4}, {-1, 4}, {0, 0}})
    expect_error<UsageError>([&] { slice_of(10, rank, size); },
                             {fmt::format("rank {} of {} has no slice", rank, size)});
}

TEST(Sampler, CountsItsBatches) {
  EXPECT_EQ(Sampler({.count = 50'000, .batch = 256}).batches_per_epoch(), 196u);
  EXPECT_EQ(Sampler({.count = 512, .batch = 256}).batches_per_epoch(), 2u);
  EXPECT_EQ(Sampler({.count = 1, .batch = 256}).batches_per_epoch(), 1u);
}

TEST(Sampler, KeepsTheLastSmallerBatch) {
  for (bool shuffle : {false, true}) {
    Sampler sampler({.count = 1000, .batch = 256, .shuffle = shuffle});
    EXPECT_EQ(sampler.batch(0, 0).size(), 256u);
    EXPECT_EQ(sampler.batch(0, 3).size(), 1000u - 3 * 256);
  }
}

TEST(Sampler, CountsUpUnshuffled) {
  Sampler sampler({.count = 10, .batch = 4, .shuffle = false});
  EXPECT_EQ(copy(sampler.batch(0, 1)), (std::vector<std::uint32_t>{4, 5, 6, 7}));
  EXPECT_EQ(copy(sampler.batch(0, 2)), (std::vector<std::uint32_t>{8, 9}));
  EXPECT_EQ(whole_epoch(sampler, 3), counting(10));
}

TEST(Sampler, DrawsEveryImageOnceAnEpoch) {
  Sampler sampler({.count = 1000, .batch = 64, .seed = 7});
  for (std::uint64_t epoch : {0, 1, 2}) {
    auto order = whole_epoch(sampler, epoch);
    EXPECT_NE(order, counting(1000));
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, counting(1000));
  }
}

TEST(Sampler, ShufflesByEpochAndSeedAndNothingElse) {
  Sampler sampler({.count = 1000, .batch = 64, .seed = 7});
  const auto first = whole_epoch(sampler, 0);
  EXPECT_NE(whole_epoch(sampler, 1), first);
  EXPECT_EQ(whole_epoch(sampler, 0), first) << "an earlier epoch, requested again";

  Sampler other_batch({.count = 1000, .batch = 100, .seed = 7});
  EXPECT_EQ(whole_epoch(other_batch, 0), first);
  Sampler other_seed({.count = 1000, .batch = 64, .seed = 8});
  EXPECT_NE(whole_epoch(other_seed, 0), first);
}

// A change of these numbers changes every recorded training run.
TEST(Sampler, GivesTheSameNumbersOnEveryMachine) {
  Sampler sampler({.count = 6000, .batch = 6});
  EXPECT_EQ(copy(sampler.batch(0, 0)),
            (std::vector<std::uint32_t>{723, 1642, 2483, 1696, 2500, 4175}));
  EXPECT_EQ(copy(sampler.batch(0, 999)),
            (std::vector<std::uint32_t>{2075, 1670, 49, 5808, 1547, 3534}));
  EXPECT_EQ(copy(sampler.batch(1, 0)),
            (std::vector<std::uint32_t>{1994, 1352, 5110, 1590, 2612, 4690}));
}

// The slices of all workers together are the one global batch, for every number of workers.
TEST(Sampler, WorkersTogetherHaveTheGlobalBatch) {
  Sampler sampler({.count = 100, .batch = 32});
  for (int size : {1, 2, 3, 4, 8})
    for (std::size_t index = 0; index < sampler.batches_per_epoch(); ++index) {
      const auto batch = sampler.batch(2, index);
      std::vector<std::uint32_t> joined;
      for (int rank = 0; rank < size; ++rank) {
        const Range range = slice_of(batch.size(), rank, size);
        const auto slice = batch.subspan(range.begin, range.size());
        joined.insert(joined.end(), slice.begin(), slice.end());
      }
      EXPECT_EQ(joined, copy(batch));
    }
}

TEST(Sampler, RefusesInvalidSizes) {
  expect_error<UsageError>([] { Sampler({.count = 0, .batch = 1}); },
                           {"cannot sample from 0 images: the set must have 1 to 4294967295"});
  expect_error<UsageError>([] { Sampler({.count = 1ull << 32, .batch = 1}); },
                           {"cannot sample from 4294967296 images"});
  expect_error<UsageError>([] { Sampler({.count = 1, .batch = 0}); },
                           {"the global batch has 0 images", "at least 1 (--batch)"});
}

TEST(Sampler, ChecksTheIndex) {
  Sampler sampler({.count = 10, .batch = 4});
  expect_error<InternalError>([&] { sampler.batch(0, 3); }, {"batch 3 of an epoch of 3"});
}

TEST(Part, HasTheSizesOfNumpysArraySplit) {
  for (int size : {1, 2, 3, 4, 7})
    for (std::size_t count : {0, 1, 6, 7, 100, 1001}) {
      std::size_t end = 0;
      for (int rank = 0; rank < size; ++rank) {
        const auto ranks = static_cast<std::size_t>(size);
        const Range range = part_of(count, rank, size);
        EXPECT_EQ(range.begin, end);
        EXPECT_EQ(range.size(),
                  count / ranks + (static_cast<std::size_t>(rank) < count % ranks ? 1 : 0));
        end = range.end;
      }
      EXPECT_EQ(end, count);
    }
}

class Parts : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t, int>> {};
INSTANTIATE_TEST_SUITE_P(CountsBatchesAndWorkers, Parts,
                         ::testing::Values(std::tuple(100, 16, 4), std::tuple(103, 16, 4),
                                           std::tuple(103, 7, 5), std::tuple(22, 3, 3),
                                           std::tuple(10, 100, 4), std::tuple(3, 4, 4),
                                           std::tuple(101, 2, 2)));

TEST_P(Parts, EveryWorkerUsesItsOwnImagesOnceAnEpoch) {
  const auto [count, batch, workers] = GetParam();
  Sampler sampler({.count = count, .batch = batch, .seed = 3, .parts = workers});
  for (std::uint64_t epoch : {1, 2}) {
    std::vector<std::vector<std::uint32_t>> seen(static_cast<std::size_t>(workers));
    for (std::size_t index = 0; index < sampler.batches_per_epoch(); ++index) {
      const auto images = sampler.batch(epoch, index);
      EXPECT_EQ(images.size(), std::min(batch, count - index * batch)) << "batches are full";
      std::size_t end = 0, fewest = count, most = 0;
      for (int worker = 0; worker < workers; ++worker) {
        const Range slice = sampler.slice(index, worker, workers);
        EXPECT_EQ(slice.begin, end);
        end = slice.end;
        fewest = std::min(fewest, slice.size());
        most = std::max(most, slice.size());
        for (std::uint32_t image : images.subspan(slice.begin, slice.size()))
          seen[static_cast<std::size_t>(worker)].push_back(image);
      }
      EXPECT_EQ(end, images.size());
      EXPECT_LE(most, fewest + 1);
    }
    for (int worker = 0; worker < workers; ++worker) {
      std::vector<std::uint32_t> its = seen[static_cast<std::size_t>(worker)];
      std::sort(its.begin(), its.end());
      const Range part = part_of(count, worker, workers);
      std::vector<std::uint32_t> expected(part.size());
      std::iota(expected.begin(), expected.end(), static_cast<std::uint32_t>(part.begin));
      EXPECT_EQ(its, expected) << "worker " << worker;
    }
  }
}

TEST(Parts, AreShuffledAnewInEveryEpoch) {
  Sampler sampler({.count = 100, .batch = 100, .seed = 3, .parts = 2});
  const auto first = copy(sampler.batch(1, 0));
  EXPECT_NE(first, counting(100));
  EXPECT_NE(copy(sampler.batch(2, 0)), first);
  EXPECT_EQ(copy(sampler.batch(1, 0)), first);
}

TEST(Parts, KeepTheOrderWithoutShuffling) {
  Sampler sampler({.count = 5, .batch = 4, .shuffle = false, .parts = 2});
  EXPECT_EQ(copy(sampler.batch(1, 0)), (std::vector<std::uint32_t>{0, 1, 3, 4}));
  EXPECT_EQ(copy(sampler.batch(1, 1)), (std::vector<std::uint32_t>{2}));
}

TEST(Parts, OneWorkerHasTheOrderOfAllImages) {
  Sampler whole({.count = 50, .batch = 8, .seed = 3});
  Sampler alone({.count = 50, .batch = 8, .seed = 3, .parts = 1});
  EXPECT_EQ(whole_epoch(alone, 2), whole_epoch(whole, 2));
}

}  // namespace
}  // namespace lockstep::internal::data
