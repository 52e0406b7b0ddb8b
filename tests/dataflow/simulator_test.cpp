// The simulated array against plain convolutions, known examples, and the closed forms.
#include "dataflow/simulator.h"

#include "base/random.h"
#include "dataflow/recording.h"
#include "dataflow/row_stationary.h"
#include "dataflow/search.h"

#include <gtest/gtest.h>

#include <map>

namespace lockstep::internal::dataflow {
namespace {

Operands small(const char* filter, const char* input) {
  return {.filter = parse_tensor(filter, "filter"), .input = parse_tensor(input, "input")};
}

/// The sums of each element, in order: a row product is complete after the last tap.
std::map<Count, std::vector<Value>> row_products(const Operands& operands, Count mac_width,
                                                 Simulation& simulation) {
  std::map<Count, std::vector<Value>> rows;
  SimulationOptions options{.mac_width = mac_width, .on_pass = {}, .on_cycle = {}};
  options.on_cycle = [&](const Cycle& cycle) {
    for (const Product& its : cycle.products)
      if (its.tap + its.count == operands.filter.columns) rows[its.element].push_back(its.psum);
  };
  const Mapping whole{.e = layer_of(operands).out_height()};
  simulation = simulate(operands, Chip{}, whole, options);
  return rows;
}

TEST(DataflowSimulator, ComputesTheSmallExample) {
  Simulation simulation;
  const auto rows = row_products(small("1,2;3,4", "1,2,3;4,5,6;7,8,9"), 1, simulation);
  EXPECT_EQ(rows.at(0), (std::vector<Value>{5, 8}));
  EXPECT_EQ(rows.at(1), (std::vector<Value>{32, 39}));
  EXPECT_EQ(rows.at(2), (std::vector<Value>{14, 17}));
  EXPECT_EQ(rows.at(3), (std::vector<Value>{53, 60}));
  EXPECT_EQ(simulation.output.values, (std::vector<Value>{37, 47, 67, 77}));
  const Counters& its = simulation.counters;
  EXPECT_EQ(its.macs, 16);
  EXPECT_EQ(its.buffer_reads.filter, 4);
  EXPECT_EQ(its.buffer_reads.ifmap, 9);
  EXPECT_EQ(its.buffer_reads.psum, 0);
  EXPECT_EQ(its.array.psum, 4);
  EXPECT_EQ(its.buffer_writes, 4);
  EXPECT_EQ(its.product_cycles, 4);
}

TEST(DataflowSimulator, ComputesTheHandCalculationWithTwoProductsPerCycle) {
  Simulation simulation;
  const Operands operands = small("-1,2;0,1", "1,3,9;2,4,5;0,1,7");
  const auto rows = row_products(operands, 2, simulation);
  EXPECT_EQ(rows.at(0), (std::vector<Value>{5, 15}));  // 1·(−1)+3·2, 3·(−1)+9·2
  EXPECT_EQ(simulation.counters.product_cycles, 2);
  EXPECT_EQ(simulation.output, plain_convolution(operands));
}

TEST(DataflowSimulator, MakesTheHandCalculationOneElementAtATime) {
  const Operands operands = small("-1,2;0,1", "1,3,9;2,4,5;0,1,7");
  std::vector<Cycle> cycles;
  const SimulationOptions options{
      .mac_width = 2, .serial = true, .on_pass = {}, .on_cycle = [&](const Cycle& cycle) {
        cycles.push_back(cycle);
      }};
  const Simulation simulation = simulate(operands, Chip{}, Mapping{.e = 2}, options);
  ASSERT_EQ(cycles.size(), 10u);  // two windows of PE1, PE2, PE3, PE4, psum
  const std::vector<std::vector<Value>> psums{{5, 4, 6, 1}, {15, 5, 6, 7}};
  for (std::size_t window = 0; window < 2; ++window) {
    for (std::size_t element = 0; element < 4; ++element) {
      const Cycle& its = cycles[5 * window + element];
      ASSERT_EQ(its.products.size(), 1u);
      EXPECT_EQ(its.products[0].element, static_cast<Count>(element));
      EXPECT_EQ(its.products[0].psum, psums[window][element]);
      EXPECT_TRUE(its.hops.empty() && its.writes.empty());
    }
    const Cycle& sums = cycles[5 * window + 4];
    EXPECT_TRUE(sums.products.empty());
    ASSERT_EQ(sums.hops.size(), 2u);
    for (std::size_t row = 0; row < 2; ++row) {
      EXPECT_EQ(sums.hops[row].received, psums[window][2 * row + 1]);
      EXPECT_EQ(sums.writes[row].sum, psums[window][2 * row] + psums[window][2 * row + 1]);
    }
  }
  EXPECT_EQ(simulation.output.values, (std::vector<Value>{9, 20, 7, 13}));
  EXPECT_EQ(simulation.output, plain_convolution(operands));
}

Count draw(Random& random, Count most) {
  return 1 + static_cast<Count>(random.below(static_cast<std::uint64_t>(most)));
}

Layer random_layer(Random& random) {
  Layer layer{.name = "random",
              .batch = draw(random, 3),
              .channels = draw(random, 5),
              .filters = draw(random, 6)};
  layer.kernel_height = draw(random, 4);
  layer.kernel_width = draw(random, 4);
  layer.stride = draw(random, 3);
  layer.padding = draw(random, 3) - 1;
  layer.height = layer.kernel_height + draw(random, 6) - 1;
  layer.width = layer.kernel_width + draw(random, 6) - 1;
  return layer;
}

/// A random mapping that the rules allow.
Mapping random_mapping(Random& random, const Layer& layer, const Chip& chip) {
  for (int trial = 0; trial < 200; ++trial) {
    Mapping mapping{.n = draw(random, layer.batch),
                    .e = draw(random, layer.out_height()),
                    .p = draw(random, 4),
                    .q = draw(random, 3),
                    .r = draw(random, 3),
                    .t = draw(random, 3)};
    mapping.m = mapping.p * mapping.t * draw(random, 3);
    if (!forbidden(layer, chip, mapping)) return mapping;
  }
  return best_mapping(layer, chip, Goal::kTime);
}

Chip random_chip(Random& random) {
  Chip chip;
  chip.rows = 4 + draw(random, 9);
  chip.columns = draw(random, 14);
  return chip;
}

TEST(DataflowSimulator, ThousandsOfRandomShapesEqualAPlainConvolution) {
  Random random(5000);
  for (std::uint64_t trial = 0; trial < 4000; ++trial) {
    const Layer layer = random_layer(random);
    const Chip chip = random_chip(random);
    if (forbidden(layer, chip, Mapping{})) continue;
    const Mapping mapping = random_mapping(random, layer, chip);
    const Operands operands = random_operands(layer, trial);
    SimulationOptions options;
    options.mac_width = draw(random, 4);
    options.serial = trial % 4 == 0;
    const Simulation simulation = simulate(operands, chip, mapping, options);
    ASSERT_EQ(simulation.output, plain_convolution(operands)) << trial << ": " << text_of(mapping);
    ASSERT_EQ(simulation.counters.macs, layer.macs()) << trial << ": " << text_of(mapping);
  }
}

/// With full strips only, the counters equal the closed forms.
TEST(DataflowSimulator, CountersEqualTheClosedForms) {
  Random random(1);
  int compared = 0;
  for (std::uint64_t trial = 0; trial < 2000; ++trial) {
    const Layer layer = random_layer(random);
    const Chip chip = random_chip(random);
    if (forbidden(layer, chip, Mapping{})) continue;
    const Mapping mapping = random_mapping(random, layer, chip);
    if (layer.out_height() % mapping.e != 0) continue;
    const Counters its = simulate(random_operands(layer, trial), chip, mapping).counters;
    const Cost cost = cost_of(layer, chip, mapping);
    const Accesses& all = cost.accesses;
    ASSERT_EQ(its.product_cycles, cost.cycles.compute) << text_of(mapping);
    ASSERT_EQ(its.passes, loops_of(layer, mapping).passes(layer)) << text_of(mapping);
    ASSERT_EQ(its.buffer_reads.filter, all.buffer.filter) << text_of(mapping);
    ASSERT_EQ(its.buffer_reads.ifmap, all.buffer.ifmap) << text_of(mapping);
    // Complete sums are read once more, for the DRAM.
    ASSERT_EQ(its.buffer_reads.psum + its.buffer_writes + layer.outputs(), all.buffer.psum);
    ASSERT_EQ(its.array.filter, all.array.filter) << text_of(mapping);
    ASSERT_EQ(its.array.ifmap, all.array.ifmap) << text_of(mapping);
    ASSERT_EQ(its.array.psum, all.array.psum) << text_of(mapping);
    ASSERT_EQ(its.registers.total(), all.registers.total());
    ++compared;
  }
  EXPECT_GT(compared, 1000);
}

TEST(DataflowSimulator, ElementsHaveDistinctPositionsOnTheArray) {
  Random random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const Layer layer = random_layer(random);
    const Chip chip = random_chip(random);
    if (forbidden(layer, chip, Mapping{})) continue;
    const Mapping mapping = random_mapping(random, layer, chip);
    SimulationOptions options;
    options.on_pass = [&](const PassLayout& layout) {
      std::map<std::pair<Count, Count>, Count> taken;
      for (const Element& its : layout.elements) {
        ASSERT_LT(its.array_row, chip.rows) << text_of(mapping);
        ASSERT_LT(its.array_column, chip.columns) << text_of(mapping);
        ASSERT_EQ(++taken[std::pair(its.array_row, its.array_column)], 1) << text_of(mapping);
      }
    };
    simulate(random_operands(layer, 1), chip, mapping, options);
  }
}

TEST(DataflowRecording, HasAllEvents) {
  const Recording recording = record(small("1,2;3,4", "1,2,3;4,5,6;7,8,9"), Chip{}, {.e = 2}, 1);
  EXPECT_EQ(recording.json["cycles"].size(), 6u);
  EXPECT_EQ(recording.json["passes"][0]["elements"].size(), 4u);
  EXPECT_EQ(recording.json["output"][0][0].dump(), "[[37,47],[67,77]]");
  EXPECT_EQ(recording.json["cycles"][2]["hops"][0].dump(), "[1,0,0,0,0,0,37]");
}

}  // namespace
}  // namespace lockstep::internal::dataflow
