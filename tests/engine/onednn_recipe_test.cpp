// Label smoothing and zero-initialised residual blocks, in both engines.
#include "engine/onednn/onednn_engine.h"
#include "engine/onednn_support.h"
#include "engine/torch/torch_engine.h"
#include "models/model_names.h"

#include <algorithm>

namespace lockstep::internal::engine {
namespace {

constexpr data::ImageShape kRecipeImages{1, 32, 32};
constexpr double kSmoothing = 0.2;

/// The sum of a batch's losses by explicit targets; computes the gradients of their mean.
double smoothed_loss(models::Classifier& model, const data::Batch& batch) {
  const torch::Tensor logits = model.forward(images_of(batch, kRecipeImages));
  torch::Tensor targets = torch::full_like(logits, kSmoothing / models::kClasses);
  for (std::size_t i = 0; i < batch.size(); ++i)
    targets[static_cast<std::int64_t>(i)][batch.labels[i]] += 1 - kSmoothing;
  const torch::Tensor loss = -(targets * torch::log_softmax(logits, 1)).sum();
  (loss / static_cast<double>(batch.size())).backward();
  return loss.item<double>();
}

void expect_smoothed(BoundEngine& bound) {
  const auto model = models::make_model("lenet5", DataType::float64);
  models::load_state(*model, bound.engine->parameter_state(), "the engine");
  const data::Batch batch = random_batch(kRecipeImages, 7);
  const double expected = smoothed_loss(*model, batch);
  EXPECT_NEAR(bound.train(batch).loss_sum, expected, 1e-5 * expected);
  const std::vector<torch::Tensor> parameters = model->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    EXPECT_LT(relative_error(bound.plain_gradient(i), parameters[i].grad()), 1e-4) << i;
  // Evaluation uses plain labels.
  const double plain = torch_loss(model, batch, kRecipeImages, false);
  EXPECT_NEAR(bound.engine->evaluate(batch).loss_sum, plain, 1e-5 * plain);
  EXPECT_GT(std::abs(plain - expected), 1e-3);
}

TEST(OnednnRecipe, LabelsAreSmoothed) {
  run_threads(1, [](const Group& group) {
    BoundEngine bound(
        group,
        make_onednn_engine(
            {.images = kRecipeImages, .seed = 3, .label_smoothing = kSmoothing, .batch = 7}));
    expect_smoothed(bound);
  });
}

TEST(OnednnRecipe, TorchSmoothsLabelsAlike) {
  run_threads(1, [](const Group& group) {
    BoundEngine bound(
        group,
        make_torch_engine({.images = kRecipeImages, .seed = 3, .label_smoothing = kSmoothing}));
    expect_smoothed(bound);
  });
}

TEST(OnednnRecipe, ZeroGammaChangesTheLastBatchNormsOnly) {
  const data::ImageShape images = models::images_of("resnet18");
  const auto usual = make_torch_engine({.model = "resnet18", .images = images, .seed = 5});
  const auto empty =
      make_torch_engine({.model = "resnet18", .images = images, .seed = 5, .zero_gamma = true});
  const auto ours = make_onednn_engine(
      {.model = "resnet18", .images = images, .seed = 5, .zero_gamma = true, .batch = 1});
  EXPECT_EQ(ours->parameter_state(), empty->parameter_state());
  const auto before = usual->parameter_state();
  const auto after = empty->parameter_state();
  int blocks = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool last = after[i].name.find(".bn2.weight") != std::string::npos;
    EXPECT_EQ(after[i] == before[i], !last) << after[i].name;
    if (!last) continue;
    ++blocks;
    EXPECT_TRUE(std::all_of(after[i].data.begin(), after[i].data.end(),
                            [](std::byte byte) { return byte == std::byte{0}; }));
  }
  EXPECT_EQ(blocks, 8);
}

}  // namespace
}  // namespace lockstep::internal::engine
