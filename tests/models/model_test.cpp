// State is saved from a module and loaded back.
#include "models/model.h"

#include <lockstep/error.h>

#include "stored_tensors.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lockstep::internal::models {
namespace {

/// Parameters, floating-point and integer buffers, and a scalar.
struct Small : torch::nn::Module {
  Small() {
    weight = register_parameter("weight", torch::tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}));
    mean = register_buffer("mean", torch::tensor({0.5f}));
    batches = register_buffer("batches", torch::tensor(7, torch::kInt64));
  }
  torch::Tensor weight, mean, batches;
};

std::vector<StoredTensor> other_state() {
  return {stored<float>("weight", {2, 3}, {6, 5, 4, 3, 2, 1}), stored<float>("mean", {1}, {-1}),
          stored<std::int64_t>("batches", {}, {8})};
}

TEST(StateOf, HasParametersAndBuffers) {
  Small module;
  EXPECT_EQ(parameters_of(module),
            std::vector{stored<float>("weight", {2, 3}, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(buffers_of(module), (std::vector{stored<float>("mean", {1}, {0.5}),
                                             stored<std::int64_t>("batches", {}, {7})}));
  EXPECT_EQ(state_of(module).size(), 3u);
}

TEST(StateOf, IsPlainForAnyLayout) {
  torch::nn::Module module;
  const torch::Tensor plain = torch::arange(2 * 3 * 4 * 5, torch::kFloat32).view({2, 3, 4, 5});
  module.register_parameter("w", plain.contiguous(torch::MemoryFormat::ChannelsLast));
  const StoredTensor state = state_of(module)[0];
  EXPECT_EQ(state.shape, (std::vector<std::int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(std::memcmp(state.data.data(), plain.data_ptr(), plain.nbytes()), 0);
}

TEST(StateOf, NamesTheTensorThatCannotBeStored) {
  torch::nn::Module module;
  module.register_buffer("mask", torch::ones(2, torch::kBool));
  try {
    state_of(module);
    ADD_FAILURE() << "bool cannot be stored";
  } catch (const UsageError& error) {
    EXPECT_STREQ(
        error.what(),
        "tensor mask has type Bool, which cannot be stored: convert it to one of F32, F64, "
        "I32, I64, U8, F16 and BF16");
  }
}

TEST(LoadState, WritesInPlace) {
  Small module;
  const torch::Tensor alias = module.weight.detach();
  load_state(module, other_state(), "file");
  EXPECT_EQ(alias[0][0].item<float>(), 6);
  EXPECT_EQ(module.weight.data_ptr(), alias.data_ptr());
  EXPECT_TRUE(module.weight.requires_grad());
  EXPECT_EQ(module.batches.item<std::int64_t>(), 8);
}

TEST(LoadState, ConvertsBetweenFloatAndDouble) {
  Small module;
  auto state = other_state();
  state[0] = stored<double>("weight", {2, 3}, {0.1, 0, 0, 0, 0, 0});
  load_state(module, state, "file");
  EXPECT_EQ(module.weight[0][0].item<float>(), 0.1f);
  module.weight.set_data(module.weight.to(torch::kFloat64));
  load_state(module, other_state(), "file");
  EXPECT_EQ(module.weight[0][0].item<double>(), 6.0);
}

void expect_refused(const std::vector<StoredTensor>& state, const std::string& message) {
  Small module;
  const auto before = state_of(module);
  try {
    load_state(module, state, "w.safetensors");
    ADD_FAILURE() << "was loaded: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.what(),
              "w.safetensors: tensor " + message + ": load the weights of this model");
  }
  EXPECT_EQ(state_of(module), before);
}

TEST(LoadState, RefusesMismatchesAndChangesNothing) {
  auto state = other_state();
  state.pop_back();
  expect_refused(state, "batches is missing");

  state = other_state();
  state.push_back(stored<float>("bias", {1}, {1}));
  expect_refused(state, "bias is not part of the model");

  state = other_state();
  state.push_back(state[1]);
  expect_refused(state, "mean occurs twice");

  state = other_state();
  state[1] = stored<float>("mean", {1, 1}, {1});
  expect_refused(state, "mean has shape [1, 1], the model's has [1]");

  state = other_state();
  state[2] = stored<float>("batches", {}, {8});
  expect_refused(state, "batches is F32, the model's is I64");

  state = other_state();
  state[1] = stored<std::int64_t>("mean", {1}, {1});
  expect_refused(state, "mean is I64, the model's is F32");
}

TEST(LoadState, NeverReadsBeyondTheData) {
  Small module;
  auto state = other_state();
  state[0].data.pop_back();
  EXPECT_THROW(load_state(module, state, "file"), InternalError);
}

}  // namespace
}  // namespace lockstep::internal::models
