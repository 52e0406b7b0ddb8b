// The torch engine supports every model in float32 and float64, with its running statistics.
#include <lockstep/error.h>

#include "engine/random_batch.h"
#include "engine/torch/torch_engine.h"
#include "models/model_names.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace lockstep::internal::engine {
namespace {

std::unique_ptr<Engine> make_engine(const std::string& model, DataType type) {
  return make_torch_engine(
      {.model = model, .type = type, .images = models::images_of(model), .seed = 1});
}

template <typename T>
double largest(const ArrayView& values) {
  double found = 0;
  for (T value : std::span(static_cast<const T*>(values.data), values.count))
    found = std::max(found, std::abs(static_cast<double>(value)));
  return found;
}

class EveryModelsEngine : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, EveryModelsEngine, ::testing::ValuesIn(models::model_names()),
                         [](const auto& info) { return info.param; });

/// The loss of a batch, after a backward that reached all parameters.
template <typename T>
double train_once(const std::string& model, const data::Batch& batch) {
  constexpr DataType kType = DataTypeOf<T>::value;
  double loss = 0;
  run_threads(1, [&](Group group) {
    auto engine = make_engine(model, kType);
    EXPECT_EQ(engine->type(), kType);
    for (const models::StoredTensor& parameter : engine->parameter_state())
      EXPECT_EQ(parameter.type, kType) << parameter.name;
    const sync::Gradients gradients(group, engine->parameters(),
                                    sync::Layout(engine->parameters(), kType));
    const Memory weights = group.allocate(gradients.layout().bytes());
    engine->bind({weights.data(), gradients.layout().size(), kType}, gradients, [](std::size_t) {});
    loss = engine->forward(batch).loss_sum;
    engine->backward(1);
    for (std::size_t i = 0; i < gradients.parameters().size(); ++i)
      EXPECT_GT(largest<T>(gradients.of(i)), 0) << gradients.parameters()[i].name;
    engine.reset();  // before the memory it writes into
  });
  return loss;
}

TEST_P(EveryModelsEngine, TrainsInBothTypesFromTheSameWeights) {
  const data::Batch batch = random_batch(models::images_of(GetParam()), 2);
  const double loss = train_once<double>(GetParam(), batch);
  EXPECT_NEAR(train_once<float>(GetParam(), batch), loss, 1e-3 * loss);
}

TEST_P(EveryModelsEngine, EvaluatesByItsRunningStatistics) {
  const auto engine = make_engine(GetParam(), DataType::float32);
  const data::Batch batch = random_batch(models::images_of(GetParam()), 2);
  const double trained = engine->forward(batch).loss_sum;
  const double evaluated = engine->evaluate(batch).loss_sum;
  EXPECT_EQ(engine->evaluate(batch).loss_sum, evaluated) << "evaluation must leave no trace";
  std::vector<ArrayView> statistics = engine->running_statistics();
  EXPECT_EQ(statistics.size(), engine->buffer_state().size());
  if (engine->buffer_state().empty()) {
    EXPECT_TRUE(statistics.empty());
    EXPECT_EQ(evaluated, trained);
    return;
  }
  // A mean and a variance for every counter of batches.
  std::erase_if(statistics, [](const ArrayView& values) { return !is_floating(values.type); });
  EXPECT_EQ(statistics.size() * 3, engine->buffer_state().size() * 2);
  for (const ArrayView& values : statistics)
    for (float& value : std::span(static_cast<float*>(values.data), values.count)) value += 1;
  EXPECT_NE(engine->evaluate(batch).loss_sum, evaluated);
  EXPECT_EQ(engine->forward(batch).loss_sum, trained) << "training must not use them";
}

TEST(TorchEngine, RefusesUnsupportedImages) {
  testing::expect_error<UsageError>(
      [] {
        make_torch_engine({.model = "vgg11", .images = {1, 32, 32}});
      },
      {"model vgg11 expects images of 3×32×32, but the data have 1×32×32", "lenet5"});
}

}  // namespace
}  // namespace lockstep::internal::engine
