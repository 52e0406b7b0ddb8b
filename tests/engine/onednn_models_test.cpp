// Whole models on the onednn engine, compared with torch.
#include "engine/onednn_support.h"
#include "engine/torch/torch_engine.h"
#include "models/model_names.h"
#include "optim/sgd.h"

namespace lockstep::internal::engine {
namespace {

struct ModelCase {
  const char* model;
  const char* convolutions;
  double tolerance;  ///< relative to the norm of a parameter's gradient
};

std::ostream& operator<<(std::ostream& out, const ModelCase& shown) {
  return out << shown.model << " " << shown.convolutions;
}

std::string name_of(const ::testing::TestParamInfo<ModelCase>& info) {
  return std::string(info.param.model) + "_" + info.param.convolutions;
}

std::unique_ptr<Engine> make_model_engine(const ModelCase& test, std::size_t batch) {
  return make_onednn_engine({.model = test.model,
                             .images = models::images_of(test.model),
                             .seed = 1,
                             .batch = batch,
                             .convolutions = test.convolutions});
}

std::shared_ptr<models::Classifier> make_reference(const ModelCase& test) {
  torch::manual_seed(1);
  return models::make_model(test.model, DataType::float64);
}

class OnednnModel : public ::testing::TestWithParam<ModelCase> {};

// A value before a ReLU or in a max pool that falls on another side than in float64 changes the
// gradients of all earlier layers by thousandths of their norm. Later layers differ by rounding
// only.
constexpr double kSomeFlips = 2e-2;
constexpr double kModelRounding = 2e-5;
constexpr double kLoss = 1e-4;

INSTANTIATE_TEST_SUITE_P(All, OnednnModel,
                         ::testing::Values(ModelCase{"lenet5", "direct", 1e-5},
                                           ModelCase{"vgg11", "direct", kSomeFlips},
                                           ModelCase{"vgg11", "fixed", kSomeFlips},
                                           ModelCase{"resnet18", "direct", kSomeFlips},
                                           ModelCase{"resnet18", "fixed", kSomeFlips}),
                         name_of);

TEST_P(OnednnModel, ComputesTorchsGradients) {
  const data::ImageShape images = models::images_of(GetParam().model);
  const data::Batch batch = random_batch(images, 8);
  auto reference = make_reference(GetParam());
  const double tolerance = GetParam().tolerance;
  run_threads(1, [&](const Group& group) {
    BoundEngine ours(group, make_model_engine(GetParam(), 8));
    const double loss = torch_loss(reference, batch, images, true);
    EXPECT_NEAR(ours.train(batch).loss_sum, loss, kLoss * loss);
    const std::vector<torch::Tensor> parameters = reference->parameters();
    ASSERT_EQ(ours.engine->parameters().size(), parameters.size());
    std::vector<double> errors;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (is_noise(parameters[i].grad())) continue;
      errors.push_back(relative_error(ours.plain_gradient(i), parameters[i].grad()));
      EXPECT_LT(errors.back(), tolerance) << ours.engine->parameters()[i].name;
    }
    std::ranges::sort(errors);
    EXPECT_LT(errors[3], kModelRounding) << "of the last layers at least, which no flip reaches";
    EXPECT_NEAR(ours.engine->evaluate(batch).loss_sum, torch_loss(reference, batch, images, false),
                kLoss * loss);
  });
}

/// VGG-11 with tanh instead of ReLU and average pools: no value can fall on another side, so only
/// rounding differs.
torch::nn::Sequential make_smooth_vgg11() {
  namespace nn = torch::nn;
  constexpr int kPool = 0;
  nn::Sequential model;
  int channels = 3;
  for (const int next :
       {64, kPool, 128, kPool, 256, 256, kPool, 512, 512, kPool, 512, 512, kPool}) {
    if (next == kPool) {
      model->push_back(nn::AvgPool2d(2));
      continue;
    }
    model->push_back(nn::Conv2d(nn::Conv2dOptions(channels, next, 3).padding(1)));
    model->push_back(nn::BatchNorm2d(next));
    model->push_back(nn::Tanh());
    channels = next;
  }
  model->push_back(nn::Flatten());
  model->push_back(nn::Linear(512, 10));
  return model;
}

/// The largest relative error of a parameter's gradients, compared with torch in float64.
double worst_gradient_of_smooth_vgg11(const char* convolutions) {
  constexpr data::ImageShape kImages{3, 32, 32};
  const data::Batch batch = random_batch(kImages, 8);
  torch::manual_seed(1);
  const torch::nn::Sequential model = make_smooth_vgg11();
  torch::nn::Sequential reference(
      std::dynamic_pointer_cast<torch::nn::SequentialImpl>(model->clone()));
  reference->to(torch::kFloat64);
  torch_loss(reference, batch, kImages, true);
  double worst = 0;
  run_threads(1, [&](const Group& group) {
    BoundEngine ours(
        group,
        make_onednn_engine(model, {.images = kImages, .batch = 8, .convolutions = convolutions}));
    ours.train(batch);
    const std::vector<torch::Tensor> parameters = reference->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (!is_noise(parameters[i].grad()))
        worst = std::max(worst, relative_error(ours.plain_gradient(i), parameters[i].grad()));
  });
  return worst;
}

TEST(OnednnModels, SmoothModelsHaveTorchsGradients) {
  // The worst is the first batch norm's bias: a sum of 8192 gradients that nearly cancel.
  EXPECT_LT(worst_gradient_of_smooth_vgg11("direct"), 2e-5);
  EXPECT_LT(worst_gradient_of_smooth_vgg11("fixed"), 5e-5);
}

TEST_P(OnednnModel, SupportsBatchesOfOtherSizes) {
  const data::ImageShape images = models::images_of(GetParam().model);
  run_threads(1, [&](const Group& group) {
    BoundEngine ours(group, make_model_engine(GetParam(), 8));
    for (const std::size_t size : {3u, 8u, 11u, 3u}) {
      auto reference = make_reference(GetParam());
      const data::Batch batch = random_batch(images, size);
      const double loss = torch_loss(reference, batch, images, true);
      EXPECT_NEAR(ours.train(batch).loss_sum, loss, kLoss * loss);
      const torch::Tensor first = reference->parameters().front().grad();
      EXPECT_LT(relative_error(ours.plain_gradient(0), first), GetParam().tolerance) << size;
    }
  });
}

TEST(OnednnModels, TrainLeNet5AsTheTorchEngineDoes) {
  constexpr data::ImageShape kImages{1, 32, 32};
  run_threads(1, [&](const Group& group) {
    BoundEngine ours(group, make_onednn_engine({.images = kImages, .seed = 1, .batch = 16}));
    BoundEngine theirs(group, make_torch_engine({.images = kImages, .seed = 1}));
    for (BoundEngine* engine : {&ours, &theirs}) {
      const auto sgd = optim::make_sgd<float>(
          engine->memory.as<float>().first(engine->gradients.layout().size()),
          {static_cast<const float*>(engine->gradients.all().data),
           engine->gradients.layout().size()},
          {.learning_rate = 0.05, .momentum = 0.9});
      const data::Batch batch = random_batch(kImages, 16);
      for (int step = 0; step < 20; ++step) {
        engine->train(batch);
        sgd->step(0, sgd->size());
      }
    }
    const auto expected = theirs.engine->parameter_state();
    const auto weights = ours.engine->parameter_state();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto count = static_cast<std::int64_t>(expected[i].data.size() / sizeof(float));
      const torch::Tensor wanted =
          torch::from_blob(const_cast<std::byte*>(expected[i].data.data()), {count});
      EXPECT_LT(relative_error({reinterpret_cast<const float*>(weights[i].data.data()),
                                static_cast<std::size_t>(count)},
                               wanted),
                1e-4)
          << weights[i].name;
    }
  });
}

}  // namespace
}  // namespace lockstep::internal::engine
