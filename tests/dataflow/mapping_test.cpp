// Rules, placement and search.
#include "dataflow/mapping.h"

#include <lockstep/error.h>

#include "base/random.h"
#include "dataflow/models.h"
#include "dataflow/search.h"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace lockstep::internal::dataflow {
namespace {

using ::testing::HasSubstr;
using ::testing::Throws;

Layer layer_of(Count size, Count kernel, Count channels, Count filters, Count stride = 1) {
  return {.name = "L",
          .batch = 2,
          .channels = channels,
          .filters = filters,
          .height = size,
          .width = size,
          .kernel_height = kernel,
          .kernel_width = kernel,
          .stride = stride};
}

void expect_refused(const Layer& layer, const Chip& chip, const std::string& part) {
  try {
    best_mapping(layer, chip, Goal::kEnergy);
    ADD_FAILURE() << "not refused: " << part;
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(DataflowMapping, SetsAreReplicatedAndFolded) {
  const Chip chip;
  const Placement narrow = place(layer_of(227, 11, 3, 96, 4), chip, 7);
  EXPECT_EQ(narrow.sets(), 2);  // side by side
  EXPECT_EQ(place(layer_of(15, 3, 1, 1), chip, 13).sets(), 4);
  const Placement wide = place(layer_of(31, 5, 1, 1), chip, 27);
  EXPECT_EQ(wide.folds, 2);  // 14 columns, and 13 below them
  EXPECT_EQ(wide.sets(), 1);
  EXPECT_EQ(place(layer_of(60, 5, 1, 1), chip, 29).sets(), 0);  // three folds of five rows
}

TEST(DataflowMapping, EveryRuleIsNamed) {
  const Chip chip;
  const Layer layer = layer_of(15, 3, 64, 64);
  const auto reason = [&](const Mapping& mapping) {
    return forbidden(layer, chip, mapping).value_or("allowed");
  };
  EXPECT_EQ(reason({16, 2, 13, 16, 3, 2, 1}), "allowed");
  EXPECT_THAT(reason({16, 2, 13, 0, 3, 2, 1}), HasSubstr("at least 1"));
  EXPECT_THAT(reason({16, 3, 13, 16, 3, 2, 1}), HasSubstr("n is 3, but the batch has 2"));
  EXPECT_THAT(reason({16, 1, 14, 16, 3, 2, 1}), HasSubstr("e is 14, but the output has 13"));
  EXPECT_THAT(reason({20, 1, 13, 16, 3, 2, 1}), HasSubstr("not a multiple of p · t = 16"));
  EXPECT_THAT(reason({16, 1, 13, 16, 3, 5, 1}), HasSubstr("space for 4 sets of 3×13"));
  EXPECT_THAT(reason({16, 1, 13, 16, 5, 2, 1}), HasSubstr("q · S is 15 words"));
  EXPECT_THAT(reason({24, 1, 13, 24, 4, 2, 1}), HasSubstr("p · q · S is 288 words"));
  EXPECT_THAT(reason({25, 1, 13, 25, 1, 2, 1}), HasSubstr("p is 25 words"));
  Chip small;
  small.buffer_bytes = 4096;
  EXPECT_THAT(*forbidden(layer, small, {64, 1, 13, 16, 3, 2, 1}), HasSubstr("the buffer has 2048"));
  small = Chip{};
  small.filter_buffer_bytes = 512;
  EXPECT_THAT(*forbidden(layer, small, {16, 1, 13, 16, 3, 2, 1}),
              HasSubstr("the filter buffer has 256"));
}

TEST(DataflowMapping, LayersWithoutAMappingAreRefusedWithTheReason) {
  const Chip chip;
  expect_refused(layer_of(20, 13, 1, 1), chip,
                 "a filter of 13 rows is taller than the array of 12");
  Layer wide = layer_of(20, 3, 1, 1);
  wide.kernel_width = 13;
  expect_refused(wide, chip, "q · S is 13 words, but an element has 12");
  Chip small;
  small.buffer_bytes = 64;
  expect_refused(layer_of(20, 3, 1, 1), small, "the buffer has 32");
}

TEST(DataflowMapping, InvalidLayersAndChipsAreRefused) {
  const Chip chip;
  expect_refused(layer_of(0, 3, 1, 1), chip, "height is 0");
  expect_refused(layer_of(5, 3, 0, 1), chip, "channels is 0");
  expect_refused(layer_of(5, 3, 1, 1, 0), chip, "stride is 0");
  expect_refused(layer_of(5, 7, 1, 1), chip, "does not fit into an input of 5×5");
  Layer uneven = layer_of(5, 3, 3, 4);
  uneven.groups = 2;
  expect_refused(uneven, chip, "2 groups do not divide");
  expect_refused(layer_of(1 << 20, 3, 1 << 20, 1 << 20), chip, "10^15");
  Chip none;
  none.rows = 0;
  expect_refused(layer_of(5, 3, 1, 1), none, "rows of the array is 0");
  none = Chip{};
  none.buses.ifmap = 0;
  expect_refused(layer_of(5, 3, 1, 1), none, "ifmap bus is 0");
  none = Chip{};
  none.energy.dram = -1;
  expect_refused(layer_of(5, 3, 1, 1), none, "energy is -1");
  EXPECT_THAT([] { model_layers("vgg99", 1); }, Throws<UsageError>());
}

/// The least cost over all mappings of a small layer, tried one by one.
double least_of_all(const Layer& layer, const Chip& chip, Goal goal) {
  double least = 1e300;
  Mapping at;
  for (at.m = 1; at.m <= layer.filters; ++at.m)
    for (at.n = 1; at.n <= layer.batch; ++at.n)
      for (at.e = 1; at.e <= layer.out_height(); ++at.e)
        for (at.p = 1; at.p <= chip.registers.psum; ++at.p)
          for (at.q = 1; at.q <= chip.registers.ifmap; ++at.q)
            for (at.r = 1; at.r <= chip.elements(); ++at.r)
              for (at.t = 1; at.r * at.t <= chip.elements(); ++at.t) {
                if (forbidden(layer, chip, at)) continue;
                const Cost cost = cost_of(layer, chip, at);
                least = std::min(least, goal == Goal::kEnergy
                                            ? energy_of(chip, cost.macs, cost.accesses).total()
                                            : static_cast<double>(cost.cycles.total()));
              }
  return least;
}

TEST(DataflowSearch, NoAllowedMappingIsBetter) {
  Random random(10);
  Chip chip;
  chip.rows = 4;
  chip.columns = 5;
  chip.buffer_bytes = 600;
  chip.filter_buffer_bytes = 120;
  chip.registers = {.filter = 18, .ifmap = 6, .psum = 4};
  for (int trial = 0; trial < 30; ++trial) {
    const Count kernel = 1 + static_cast<Count>(random.below(3));
    const Layer layer =
        layer_of(kernel + static_cast<Count>(random.below(5)), kernel,
                 1 + static_cast<Count>(random.below(5)), 1 + static_cast<Count>(random.below(7)),
                 1 + static_cast<Count>(random.below(2)));
    for (Goal goal : {Goal::kEnergy, Goal::kTime}) {
      const Mapping found = best_mapping(layer, chip, goal);
      EXPECT_FALSE(forbidden(layer, chip, found));
      const Cost cost = cost_of(layer, chip, found);
      const double score = goal == Goal::kEnergy ? energy_of(chip, cost.macs, cost.accesses).total()
                                                 : static_cast<double>(cost.cycles.total());
      EXPECT_DOUBLE_EQ(score, least_of_all(layer, chip, goal)) << text_of(found);
    }
  }
}

}  // namespace
}  // namespace lockstep::internal::dataflow
