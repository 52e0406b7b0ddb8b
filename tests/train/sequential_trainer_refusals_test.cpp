// Invalid arguments of SequentialTrainer, and its error messages.
#include <lockstep/error.h>

#include "support/errors.h"
#include "train/own_networks.h"

#include <gtest/gtest.h>

namespace lockstep::internal {
namespace {

namespace nn = torch::nn;

class OnednnSequentialTrainerRefuses : public ::testing::Test {
 protected:
  void expect_refused(const nn::Sequential& network, std::initializer_list<std::string_view> parts,
                      const SequentialTrainerOptions& options = kOptions,
                      std::array<std::int64_t, 3> image = kImage) {
    run_threads(1, [&](const Group& group) {
      testing::expect_error<UsageError>([&] { SequentialTrainer(network, image, group, options); },
                                        parts);
    });
  }
  /// In training and in evaluation.
  void expect_refused(const torch::Tensor& images, const torch::Tensor& labels,
                      std::initializer_list<std::string_view> parts) {
    run_threads(1, [&](const Group& group) {
      SequentialTrainer trainer(smooth_network(), kImage, group, kOptions);
      testing::expect_error<UsageError>([&] { trainer.step(images, labels); }, parts);
      testing::expect_error<UsageError>([&] { trainer.evaluate(images, labels); }, parts);
      trainer.step(batch(0, 8).images, batch(0, 8).labels);  // nothing was spoilt
    });
  }
};

TEST_F(OnednnSequentialTrainerRefuses, NetworksThatTheEngineDoesNotSupport) {
  expect_refused(
      nn::Sequential(convolution(3, 8), nn::Dropout(), nn::Flatten(), nn::Linear(8 * 64, kClasses)),
      {"layer 1", "Dropout", "DistributedDataParallel"});
  expect_refused(nn::Sequential(convolution(4, 8), nn::Flatten(), nn::Linear(8 * 64, kClasses)),
                 {"layer 0", "expects 4 channels but gets 3"});
  nn::Sequential frozen = smooth_network();
  frozen->parameters()[0].set_requires_grad(false);
  expect_refused(frozen, {"layer 0", "frozen"});
  nn::Sequential doubled = smooth_network();
  doubled->to(torch::kFloat64);
  expect_refused(doubled, {"'0.weight'", "Double", "float32"});
  expect_refused(nn::Sequential(nullptr), {"needs a network"});
  expect_refused(nn::Sequential(), {"last layer is Linear"});
}

TEST_F(OnednnSequentialTrainerRefuses, InvalidOptions) {
  expect_refused(smooth_network(), {"batch is 0"}, {.batch = 0});
  expect_refused(smooth_network(), {"the momentum is 1"}, {.momentum = 1});
  expect_refused(smooth_network(), {"Nesterov", "momentum"}, {.nesterov = true});
  expect_refused(smooth_network(), {"3×0×8", "channels, height and width"}, kOptions, {3, 0, 8});
}

TEST_F(OnednnSequentialTrainerRefuses, ImagesAndLabelsOfAnotherKind) {
  const auto [images, labels] = batch(0, 8);
  expect_refused(images.to(torch::kFloat64), labels, {"float32 tensor [N, 3, 8, 8]", "Double [8"});
  expect_refused(images.to(torch::kUInt8), labels, {"float32", "Byte"});
  expect_refused(images.slice(1, 0, 2), labels, {"[N, 3, 8, 8]", "[8, 2, 8, 8]"});
  expect_refused(images[0], labels, {"[N, 3, 8, 8]", "[3, 8, 8]"});
  expect_refused(torch::Tensor(), labels, {"no tensor"});
  expect_refused(images, labels.to(torch::kInt32), {"int64 tensor [8]", "Int [8]"});
  expect_refused(images, labels.slice(0, 0, 7), {"int64 tensor [8]", "[7]"});
  torch::Tensor wrong = labels.clone();
  wrong[3] = kClasses;
  expect_refused(images, wrong, {"label 3 is 5", "from 0 to 4"});
  wrong[3] = -1;
  expect_refused(images, wrong, {"label 3 is -1"});
}

TEST_F(OnednnSequentialTrainerRefuses, InvalidBatches) {
  run_threads(1, [&](const Group& group) {
    SequentialTrainer trainer(smooth_network(), kImage, group, kOptions);
    const auto [images, labels] = batch(0, 8);
    testing::expect_error<UsageError>([&] { trainer.step(images, labels, 7); },
                                      {"all_images is 7", "8 images of rank 0"});
    testing::expect_error<UsageError>(
        [&] { trainer.step(images.slice(0, 0, 0), labels.slice(0, 0, 0)); },
        {"without images", "all_images"});
  });
}

TEST_F(OnednnSequentialTrainerRefuses, RanksThatDiffer) {
  run_threads(2, [&](const Group& group) {
    nn::Sequential network = smooth_network();
    if (group.rank() == 1) {
      network =
          nn::Sequential(convolution(3, 16), nn::ReLU(), nn::AvgPool2d(2), convolution(16, 16),
                         nn::Tanh(), nn::Flatten(), nn::Linear(16 * 4 * 4, kClasses));
    }
    testing::expect_error<MismatchError>(
        [&] { SequentialTrainer(network, kImage, group, kOptions); },
        {"different networks", "ReLU", "Tanh"});
  });
}

}  // namespace
}  // namespace lockstep::internal
