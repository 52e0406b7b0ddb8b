// LeNet-5 has the right parameters, and computes the same as PyTorch's.
#include "models/lenet5.h"

#include <lockstep/error.h>

#include "data/loader.h"
#include "data/mnist.h"
#include "formula_weights.h"
#include "models/model.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <numeric>

namespace lockstep::internal::models {
namespace {

constexpr std::size_t kReferenceBatch = 16;
constexpr double kReferenceTolerance =
    1e-12;  // relative; float64 on any machine, summed in any order

TEST(LeNet5, HasTheParametersOfPyTorch) {
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> expected = {
      {"features.0.weight", {6, 1, 5, 5}},    {"features.0.bias", {6}},
      {"features.3.weight", {16, 6, 5, 5}},   {"features.3.bias", {16}},
      {"features.6.weight", {120, 16, 5, 5}}, {"features.6.bias", {120}},
      {"classifier.0.weight", {84, 120}},     {"classifier.0.bias", {84}},
      {"classifier.2.weight", {10, 84}},      {"classifier.2.bias", {10}},
  };
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> found;
  std::int64_t count = 0;
  const auto model = make_model("lenet5");
  for (const auto& parameter : model->named_parameters()) {
    found.emplace_back(parameter.key(), parameter->sizes().vec());
    count += parameter->numel();
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(count, 61706);
  EXPECT_TRUE(model->buffers().empty());
}

TEST(LeNet5, InitialisesAsPyTorchDoes) {
  // Uniform over ±1/sqrt(fan-in): the extremes of 120 × 400 numbers are close to the bound.
  const torch::Tensor weight = make_model("lenet5")->named_parameters()["features.6.weight"];
  EXPECT_LE(weight.abs().max().item<double>(), 0.05 + 1e-7);
  EXPECT_GT(weight.abs().max().item<double>(), 0.0499);
}

TEST(LeNet5, SeedsRepeat) {
  torch::manual_seed(1);
  const auto first = state_of(*make_model("lenet5"));
  torch::manual_seed(1);
  EXPECT_EQ(state_of(*make_model("lenet5")), first);
}

TEST(LeNet5, RefusesImagesOfAnotherShape) {
  try {
    LeNet5()->forward(torch::zeros({3, 1, 28, 28}));
    ADD_FAILURE() << "28×28 is not what LeNet-5 takes";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "lenet5 expects images of [N, 1, 32, 32], got [3, 1, 28, 28]: pad or resize them");
  }
}

nlohmann::json lenet5_reference() {
  std::ifstream file(LOCKSTEP_TEST_SOURCE "/tests/reference/lenet5.json");
  return nlohmann::json::parse(file);
}

data::Batch first_batch() {
  auto images = std::make_shared<data::Images>(
      data::read_mnist(LOCKSTEP_TEST_DATA "/mnist", data::Split::train, kReferenceBatch));
  std::vector<std::uint32_t> indices(kReferenceBatch);
  std::iota(indices.begin(), indices.end(), 0u);
  data::Batch batch;
  data::Loader(images, data::mnist_normalisation(), data::kMnistPadding).load(indices, batch);
  return batch;
}

/// Runs forward and backward of the first step; returns the loss.
double first_step(Classifier& model, torch::ScalarType type) {
  data::Batch batch = first_batch();
  const auto images = torch::from_blob(batch.pixels.data(), {kReferenceBatch, 1, 32, 32}).to(type);
  const auto labels = torch::from_blob(batch.labels.data(), {kReferenceBatch}, torch::kInt64);
  const torch::Tensor loss = torch::nn::functional::cross_entropy(model.forward(images), labels);
  loss.backward();
  return loss.item<double>();
}

TEST(LeNet5, LossAndGradientsEqualPyTorchs) {
  const nlohmann::json expected = lenet5_reference();
  auto model = make_model("lenet5");
  model->to(torch::kFloat64);
  set_formula_weights(*model);
  const double loss = expected["losses_float64"][0];
  EXPECT_NEAR(first_step(*model, torch::kFloat64), loss, kReferenceTolerance * loss);
  for (const auto& parameter : model->named_parameters()) {
    const double norm = expected["gradient_norms_step1_float64"][parameter.key()];
    EXPECT_NEAR(parameter->grad().norm().item<double>(), norm, kReferenceTolerance * norm)
        << parameter.key();
  }
}

TEST(LeNet5, LossInFloat32EqualsPyTorchs) {
  auto model = make_model("lenet5");
  set_formula_weights(*model);
  const double loss = lenet5_reference()["losses_float32"][0];
  EXPECT_NEAR(first_step(*model, torch::kFloat32), loss, 1e-6 * loss);
}

}  // namespace
}  // namespace lockstep::internal::models
