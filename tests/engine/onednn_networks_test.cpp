// Whole networks on the onednn engine, beside torch.
#include "engine/onednn_support.h"
#include "engine/torch/torch_engine.h"
#include "models/model_names.h"
#include "optim/sgd.h"

namespace lockstep::engine {
namespace {

struct Case {
  const char* model;
  const char* convolutions;
  double tolerance;  ///< relative, of the norm of a parameter's gradient
};

std::ostream& operator<<(std::ostream& out, const Case& shown) {
  return out << shown.model << " " << shown.convolutions;
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  return std::string(info.param.model) + "_" + info.param.convolutions;
}

std::unique_ptr<Engine> make_engine(const Case& test, std::size_t batch) {
  return make_onednn_engine({.model = test.model,
                             .images = models::images_of(test.model),
                             .seed = 1,
                             .batch = batch,
                             .convolutions = test.convolutions});
}

std::shared_ptr<models::Classifier> make_reference(const Case& test) {
  torch::manual_seed(1);
  return models::make_model(test.model, DataType::float64);
}

class OnednnNetwork : public ::testing::TestWithParam<Case> {};

// Loose, because a value before a ReLU or in a max pool that falls on the other side than in
// float64 moves the gradients of all layers before it. The layers' own tests are a thousand times
// stricter.
constexpr double kSomeFlips = 2e-2;
constexpr double kLoss = 1e-4;

INSTANTIATE_TEST_SUITE_P(All, OnednnNetwork,
                         ::testing::Values(Case{"lenet5", "direct", 1e-5},
                                           Case{"vgg11", "direct", kSomeFlips},
                                           Case{"vgg11", "fixed", kSomeFlips},
                                           Case{"resnet18", "direct", kSomeFlips},
                                           Case{"resnet18", "fixed", kSomeFlips}),
                         name_of);

TEST_P(OnednnNetwork, ComputesTheGradientsThatTorchDoes) {
  const data::ImageShape images = models::images_of(GetParam().model);
  const data::Batch batch = random_batch(images, 8);
  auto reference = make_reference(GetParam());
  const double tolerance = GetParam().tolerance;
  run_threads(1, [&](const Group& group) {
    BoundEngine ours(group, make_engine(GetParam(), 8));
    const double loss = torch_loss(reference, batch, images, true);
    EXPECT_NEAR(ours.train(batch).loss_sum, loss, kLoss * loss);
    const std::vector<torch::Tensor> parameters = reference->parameters();
    ASSERT_EQ(ours.engine->parameters().size(), parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (is_noise(parameters[i].grad())) continue;
      EXPECT_LT(relative_error(ours.plain_gradient(i), parameters[i].grad()), tolerance)
          << ours.engine->parameters()[i].name;
    }
    EXPECT_NEAR(ours.engine->evaluate(batch).loss_sum, torch_loss(reference, batch, images, false),
                kLoss * loss);
  });
}

TEST_P(OnednnNetwork, TakesBatchesOfOtherSizes) {
  const data::ImageShape images = models::images_of(GetParam().model);
  run_threads(1, [&](const Group& group) {
    BoundEngine ours(group, make_engine(GetParam(), 8));
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

TEST(OnednnNetworks, TrainLeNet5AsTheTorchEngineDoes) {
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
}  // namespace lockstep::engine
