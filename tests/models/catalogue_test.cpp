// Every model has the parameters and buffers of PyTorch's. The reference comes from
// tests/reference/models.py.
#include <lockstep/error.h>

#include "base/files.h"
#include "models/model.h"
#include "models/safetensors.h"
#include "support/errors.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace lockstep::internal::models {
namespace {

const nlohmann::json& reference() {
  static const nlohmann::json json =
      nlohmann::json::parse(read_file(LOCKSTEP_TEST_SOURCE "/tests/reference/models.json"));
  return json;
}

std::map<std::string, torch::Tensor> state_dict(const torch::nn::Module& module) {
  std::map<std::string, torch::Tensor> state;
  for (const auto& named : module.named_parameters()) state[named.key()] = named.value();
  for (const auto& named : module.named_buffers()) state[named.key()] = named.value();
  return state;
}

bool is_counter(const std::string& name) {
  return name.ends_with(".num_batches_tracked");
}

class EveryModel : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, EveryModel, ::testing::ValuesIn(model_names()),
                         [](const auto& info) { return info.param; });

TEST_P(EveryModel, HasPyTorchsInitialState) {
  const nlohmann::json& expected = reference().at(GetParam());
  torch::manual_seed(5000);
  const auto model = make_model(GetParam());
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : model->parameters()) count += parameter.numel();
  EXPECT_EQ(count, expected.at("parameters"));

  const auto state = state_dict(*model);
  EXPECT_EQ(state.size(), expected.at("state").size());
  for (const auto& [name, shape_and_norm] : expected.at("state").items()) {
    const auto found = state.find(name);
    ASSERT_NE(found, state.end()) << name;
    EXPECT_EQ(found->second.sizes().vec(), shape_and_norm.at(0).get<std::vector<std::int64_t>>())
        << name;
    const double norm = shape_and_norm.at(1);
    EXPECT_NEAR(found->second.to(torch::kFloat64).norm().item<double>(), norm, 1e-6 * norm) << name;
  }
}

TEST_P(EveryModel, HasOneTypeExceptForItsCounters) {
  for (const auto& [name, tensor] : state_dict(*make_model(GetParam(), DataType::float64)))
    EXPECT_EQ(tensor.scalar_type(), is_counter(name) ? torch::kInt64 : torch::kFloat64) << name;
}

TEST_P(EveryModel, GivesTenScoresForItsImages) {
  const data::ImageShape images = images_of(GetParam());
  const auto model = make_model(GetParam());
  EXPECT_EQ(model->name(), GetParam());
  EXPECT_EQ(model->images(), images);
  torch::NoGradGuard no_grad;
  const auto scores =
      model->forward(torch::rand({2, images.channels, images.height, images.width}));
  EXPECT_EQ(scores.sizes().vec(), (std::vector<std::int64_t>{2, 10}));
  testing::expect_error<UsageError>(
      [&] {
        model->forward(torch::rand({2, images.channels, images.height, 28}));
      },
      {GetParam() + " expects images of [N, ", "got [2, "});
}

class EveryKind : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, EveryKind, ::testing::Values("lenet5", "vgg11", "resnet18"),
                         [](const auto& info) { return info.param; });

TEST_P(EveryKind, IsReadBackBitByBit) {
  const auto saved = make_model(GetParam());
  {  // so that statistics and counters are not those of a new model
    torch::NoGradGuard no_grad;
    const data::ImageShape& images = saved->images();
    saved->forward(torch::rand({2, images.channels, images.height, images.width}));
  }
  const auto loaded = make_model(GetParam());
  ASSERT_NE(state_of(*loaded), state_of(*saved));
  const std::string content = format_safetensors(state_of(*saved), {}, "memory");
  load_state(*loaded, parse_safetensors(content, "memory"), "memory");
  EXPECT_EQ(state_of(*loaded), state_of(*saved));
}

TEST(Catalogue, HasTheModelsOfTheReference) {
  std::vector<std::string> expected;
  for (const auto& [name, value] : reference().items())
    if (name != "made_by") expected.push_back(name);
  std::vector<std::string> names = model_names();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, expected);
}

TEST(Catalogue, UnknownNamesAreRefusedWithTheKnownOnes) {
  const std::string message =
      "unknown model 'lenet6': use one of lenet5, vgg11, vgg13, vgg16, vgg19, resnet18, "
      "resnet34";
  testing::expect_error<UsageError>([] { make_model("lenet6"); }, {message});
  testing::expect_error<UsageError>([] { images_of("lenet6"); }, {message});
}

TEST(Catalogue, ImagesThatDoNotFitAreRefusedWithAlternatives) {
  EXPECT_NO_THROW(require_fit("vgg11", {3, 32, 32}));
  testing::expect_error<UsageError>(
      [] {
        require_fit("vgg11", {1, 32, 32});
      },
      {"model vgg11 expects images of 3×32×32, but the data have 1×32×32: use data like "
       "cifar10, or a model for such images: lenet5"});
  testing::expect_error<UsageError>(
      [] {
        require_fit("lenet5", {3, 32, 32});
      },
      {"use data like mnist, or a model for such images: vgg11, vgg13, vgg16, vgg19, resnet18 and "
       "resnet34"});
  testing::expect_error<UsageError>(
      [] {
        require_fit("lenet5", {3, 224, 224});
      },
      {"but the data have 3×224×224: use data like mnist"});
}

TEST(Catalogue, MoreClassesThanTheModelHasAreRefused) {
  EXPECT_NO_THROW(require_fit("lenet5", {1, 32, 32}, 10));
  testing::expect_error<UsageError>(
      [] {
        require_fit("lenet5", {1, 32, 32}, 11);
      },
      {"model lenet5 has 10 classes, but the data have 11: use data of 10 or fewer"});
}

TEST(Convert, ChangesFloatsButNotCounters) {
  torch::nn::BatchNorm2d norm(3);
  norm->forward(torch::rand({2, 3, 4, 4}));
  const torch::Tensor mean = norm->running_mean.clone();
  convert(*norm, DataType::float64);
  EXPECT_TRUE(norm->weight.requires_grad());
  EXPECT_EQ(norm->weight.scalar_type(), torch::kFloat64);
  EXPECT_TRUE(norm->running_mean.equal(mean.to(torch::kFloat64)));
  EXPECT_EQ(norm->num_batches_tracked.scalar_type(), torch::kInt64);
  EXPECT_EQ(norm->num_batches_tracked.item<std::int64_t>(), 1);
  convert(*norm, DataType::float32);
  EXPECT_TRUE(norm->running_mean.equal(mean));
}

}  // namespace
}  // namespace lockstep::internal::models
