// The worked examples: sums, steps and messages of every algorithm that sends messages.
#include "comm/recording/worked_collective.h"

#include <lockstep/error.h>

#include "comm/algorithms.h"

#include <gtest/gtest.h>

#include <bit>
#include <gmock/gmock.h>

namespace lockstep::internal::comm {

namespace {

std::vector<int> values_of(const WorkedArray& array) {
  std::vector<int> values;
  for (const WorkedElement& element : array) values.push_back(element.value);
  return values;
}

std::size_t steps_of(Algorithm algorithm, unsigned ranks) {
  const std::size_t lower = std::bit_width(ranks) - 1, upper = std::bit_width(ranks - 1);
  switch (algorithm) {
    case Algorithm::tree:
      return 2 * upper;
    case Algorithm::halving_doubling:
      return std::has_single_bit(ranks) ? 2 * lower : 2 * lower + 2;
    default:
      return 2 * (ranks - 1);
  }
}

/// Applies the messages of a step to the arrays before it.
std::vector<WorkedArray> applied(std::vector<WorkedArray> arrays, const WorkedStep& step) {
  for (const WorkedMessage& message : step.messages) {
    WorkedArray& array = arrays[static_cast<std::size_t>(message.to)];
    for (std::size_t i = 0; i < message.elements.size(); ++i) {
      WorkedElement& its = array[message.first + i];
      const WorkedElement& received = message.elements[i];
      EXPECT_FALSE(message.added && (its.ranks & received.ranks) != 0) << "a rank is added twice";
      its = message.added ? WorkedElement{static_cast<std::uint16_t>(its.value + received.value),
                                          static_cast<std::uint16_t>(its.ranks | received.ranks)}
                          : received;
    }
  }
  return arrays;
}

void expect_sums(Algorithm algorithm, int ranks, std::size_t elements) {
  SCOPED_TRACE(testing::Message() << name_of(algorithm) << ", " << ranks << " ranks, " << elements);
  const WorkedCollective example = worked_all_reduce(algorithm, ranks, elements);
  EXPECT_EQ(example.steps.size(), steps_of(algorithm, static_cast<unsigned>(ranks)));
  std::vector<WorkedArray> arrays = example.start;
  for (const WorkedStep& step : example.steps) {
    arrays = applied(arrays, step);
    EXPECT_EQ(step.arrays, arrays);
  }
  const auto others = static_cast<std::size_t>(ranks * (ranks - 1) / 2);
  for (const WorkedArray& array : arrays)
    for (std::size_t i = 0; i < elements; ++i) {
      EXPECT_TRUE(example.is_complete(array[i]));
      EXPECT_EQ(array[i].value, static_cast<std::size_t>(ranks) * (i + 1) + others * elements);
    }
}

TEST(WorkedCollective, EndsWithTheSums) {
  for (Algorithm algorithm : algorithms_of(Operation::all_reduce, {}))
    for (int ranks : {2, 3, 4, 5, 8, 13, kMostWorkedRanks})
      for (std::size_t elements : {std::size_t{1}, static_cast<std::size_t>(ranks) - 1,
                                   static_cast<std::size_t>(ranks), kMostWorkedElements})
        expect_sums(algorithm, ranks, elements);
}

TEST(WorkedCollective, RingAddsThenCopiesOneChunkPerStep) {
  const WorkedCollective ring = worked_all_reduce(Algorithm::ring, 4, 4);
  ASSERT_EQ(ring.steps.size(), 6U);
  for (std::size_t at = 0; at < ring.steps.size(); ++at) {
    ASSERT_EQ(ring.steps[at].messages.size(), 4U);
    for (const WorkedMessage& message : ring.steps[at].messages) {
      EXPECT_EQ(message.to, (message.from + 1) % 4);
      EXPECT_EQ(message.added, at < 3);
      EXPECT_EQ(message.elements.size(), 1U);
      EXPECT_EQ(message.first, (static_cast<std::size_t>(message.from) + 8 - at) % 4);
    }
  }
  EXPECT_THAT(values_of(ring.start[3]), testing::ElementsAre(13, 14, 15, 16));
  EXPECT_THAT(values_of(ring.steps[1].arrays[2]), testing::ElementsAre(15, 16, 11, 12));
  EXPECT_FALSE(ring.is_complete(ring.steps[1].arrays[2][0]));
  EXPECT_TRUE(ring.is_complete(ring.steps[2].arrays[3][0]));
}

TEST(WorkedCollective, DoesNotDependOnTiming) {
  for (Algorithm algorithm : algorithms_of(Operation::all_reduce, {})) {
    const WorkedCollective first = worked_all_reduce(algorithm, 7, 20);
    for (int time = 0; time < 5; ++time) {
      const WorkedCollective again = worked_all_reduce(algorithm, 7, 20);
      ASSERT_EQ(again.steps.size(), first.steps.size());
      for (std::size_t at = 0; at < first.steps.size(); ++at)
        EXPECT_EQ(again.steps[at].arrays, first.steps[at].arrays);
    }
  }
}

TEST(WorkedCollective, RefusesAlgorithmsWithoutMessages) {
  for (Algorithm algorithm : {Algorithm::direct, Algorithm::native, Algorithm::hierarchical})
    EXPECT_THROW(worked_all_reduce(algorithm, 4, 4), UsageError);
}

}  // namespace

}  // namespace lockstep::internal::comm
