// Backward passes as convolutions, and the other dataflows.
#include "dataflow/training.h"

#include <lockstep/error.h>

#include "dataflow/models.h"
#include "dataflow/other_dataflows.h"

#include <gtest/gtest.h>

namespace lockstep::internal::dataflow {
namespace {

Count macs_of(const Layer& layer, const Chip& chip, Pass pass) {
  Count macs = 0;
  for (const Part& part : parts_of(layer, chip, pass)) macs += part.times * part.layer.macs();
  return macs;
}

/// The number of products of the input gradient, counted by its definition.
Count counted_input_gradient(const Layer& layer) {
  const auto along = [&](Count size, Count taps) {
    Count pairs = 0;
    for (Count y = 0; y < size; ++y)
      for (Count i = 0; i < taps; ++i)
        if ((y + layer.padding - i % layer.stride + layer.stride) % layer.stride == 0) ++pairs;
    return pairs;
  };
  return layer.batch * layer.filters * layer.group_channels() *
         along(layer.height, layer.kernel_height) * along(layer.width, layer.kernel_width);
}

TEST(DataflowTraining, PartsHaveTheMultiplicationsOfThePass) {
  const Chip chip;
  for (const std::string& model : model_names())
    for (const Layer& layer : model_layers(model, 2)) {
      EXPECT_EQ(macs_of(layer, chip, Pass::kForward), layer.macs());
      EXPECT_EQ(macs_of(layer, chip, Pass::kInputGradient), counted_input_gradient(layer))
          << model << " " << layer.name;
      const Count needed = useful_macs(layer, Pass::kWeightGradient);
      const Count done = macs_of(layer, chip, Pass::kWeightGradient);
      EXPECT_GE(done, needed) << model << " " << layer.name;
      EXPECT_LE(static_cast<double>(done), 1.2 * static_cast<double>(needed))
          << model << " " << layer.name;
    }
}

TEST(DataflowTraining, AWeightGradientInOnePieceHasNoPadding) {
  const Layer layer{.name = "L",
                    .batch = 3,
                    .channels = 4,
                    .filters = 6,
                    .height = 10,
                    .width = 10,
                    .kernel_height = 3,
                    .kernel_width = 3};
  const std::vector<Part> parts = parts_of(layer, Chip{}, Pass::kWeightGradient);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].layer.kernel_height, 8);  // the output's gradient is the filter
  EXPECT_EQ(parts[0].layer.out_height(), 3);   // and the result is one
  EXPECT_EQ(parts[0].layer.batch, 4);
  EXPECT_EQ(parts[0].layer.channels, 3);
  EXPECT_EQ(macs_of(layer, Chip{}, Pass::kWeightGradient), layer.macs());
}

TEST(DataflowTraining, TheFirstLayerHasNoInputGradient) {
  const std::vector<Result> results =
      evaluate_training(model_layers("lenet5", 2), Chip{}, Goal::kEnergy);
  ASSERT_EQ(results.size(), 8u);
  EXPECT_EQ(results[1].pass, "weight gradient");
  EXPECT_EQ(results[3].pass, "input gradient");
  for (const Result& result : results) {
    EXPECT_GT(result.active_elements, 0);
    EXPECT_LE(result.active_elements, 168);
  }
}

TEST(DataflowOthers, RowStationaryCostsLeast) {
  const Chip chip;
  for (const char* model : {"alexnet", "vgg16"}) {
    double rows = 0;
    for (const Layer& layer : model_layers(model, 4))
      rows += evaluate(layer, chip, best_mapping(layer, chip, Goal::kEnergy)).energy.total();
    for (const std::string& name : other_dataflows()) {
      double others = 0;
      for (const Layer& layer : model_layers(model, 4))
        others += evaluate_other(name, layer, chip, Goal::kEnergy).energy.total();
      EXPECT_GT(others, 1.1 * rows) << model << " " << name;
    }
  }
}

TEST(DataflowOthers, EveryWordIsFetchedAtLeastOnce) {
  for (const Layer& layer : model_layers("vgg11", 2))
    for (const std::string& name : other_dataflows()) {
      const Result result = evaluate_other(name, layer, Chip{}, Goal::kEnergy);
      EXPECT_GE(result.accesses.dram.filter, layer.weights()) << name;
      EXPECT_EQ(result.accesses.dram.psum, layer.outputs()) << name;
      EXPECT_GE(result.time.compute * 168, layer.macs()) << name;
      EXPECT_LE(result.active_elements, 168) << name;
    }
  EXPECT_THROW(evaluate_other("tide", model_layers("vgg11", 2)[0], Chip{}, Goal::kTime),
               UsageError);
}

}  // namespace
}  // namespace lockstep::internal::dataflow
