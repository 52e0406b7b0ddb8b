// Networks of one's own on the onednn engine: beside torch, on several ranks, and what is refused.
#include <lockstep/error.h>
#include <lockstep/sequential_trainer.h>

#include "support/errors.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

namespace nn = torch::nn;

constexpr std::array<std::int64_t, 3> kImage{3, 8, 8};
constexpr std::int64_t kClasses = 5;
constexpr int kSteps = 10;
const SequentialTrainerOptions kOptions{
    .batch = 8, .learning_rate = 0.05, .momentum = 0.9, .weight_decay = 1e-3, .nesterov = true};

nn::Conv2d convolution(int from, int to) {
  return nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1));
}

/// The same weights every time.
nn::Sequential smooth_network() {
  torch::manual_seed(3);
  return nn::Sequential(convolution(3, 16), nn::Tanh(), nn::AvgPool2d(2), convolution(16, 16),
                        nn::Tanh(), nn::Flatten(), nn::Linear(16 * 4 * 4, kClasses));
}

nn::Sequential normalised_network() {
  torch::manual_seed(3);
  return nn::Sequential(convolution(3, 16), nn::BatchNorm2d(16), nn::ReLU(), nn::MaxPool2d(2),
                        convolution(16, 20), nn::BatchNorm2d(20), nn::ReLU(), nn::Flatten(),
                        nn::Linear(20 * 4 * 4, kClasses));
}

struct Data {
  torch::Tensor images;
  torch::Tensor labels;
};

/// `count` images of step `step`, of which rank r of W has the r-th part.
Data batch(int step, std::int64_t count, std::int64_t from = 0, std::int64_t to = 1000) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(step));
  const torch::Tensor images =
      at::randn({count, kImage[0], kImage[1], kImage[2]}, generator, torch::kFloat32);
  const torch::Tensor labels = at::randint(kClasses, {count}, generator, torch::kInt64);
  return {images.slice(0, from, to), labels.slice(0, from, to)};
}

/// Trains the module itself, by torch, on whole batches of 8.
void train_by_torch(nn::Sequential& network) {
  torch::optim::SGD sgd(network->parameters(), torch::optim::SGDOptions(kOptions.learning_rate)
                                                   .momentum(kOptions.momentum)
                                                   .weight_decay(kOptions.weight_decay)
                                                   .nesterov(kOptions.nesterov));
  network->train();
  for (int step = 0; step < kSteps; ++step) {
    const Data data = batch(step, 8);
    sgd.zero_grad();
    nn::functional::cross_entropy(network->forward(data.images), data.labels).backward();
    sgd.step();
  }
}

/// |a − b| / |b| of everything that two networks hold.
double distance(const nn::Sequential& a, const nn::Sequential& b) {
  double difference = 0, norm = 0;
  auto add = [&](const torch::Tensor& mine, const torch::Tensor& other) {
    const torch::Tensor wanted = other.detach().to(torch::kFloat64);
    difference += (mine.detach().to(torch::kFloat64) - wanted).square().sum().item<double>();
    norm += wanted.square().sum().item<double>();
  };
  for (std::size_t i = 0; i < a->parameters().size(); ++i)
    add(a->parameters()[i], b->parameters()[i]);
  for (std::size_t i = 0; i < a->buffers().size(); ++i) add(a->buffers()[i], b->buffers()[i]);
  return std::sqrt(difference / norm);
}

/// What rank 0 has when ranks trained on slices of the same batches of 8; `split` is where the last
/// rank's begins.
nn::Sequential train_on_ranks(int ranks, std::int64_t split) {
  nn::Sequential result = smooth_network();
  run_threads(ranks, [&](const Group& group) {
    const bool first = group.rank() == 0;
    nn::Sequential mine = first ? result : smooth_network();
    SequentialTrainer trainer(mine, kImage, group, kOptions);
    const bool alone = group.size() == 1;
    for (int step = 0; step < kSteps; ++step) {
      const Data data = batch(step, 8, first ? 0 : split, first && !alone ? split : 8);
      trainer.step(data.images, data.labels, 8);
    }
    trainer.copy_to_module();
  });
  return result;
}

TEST(OnednnSequentialTrainer, TrainsAsTorchDoes) {
  for (auto make : {smooth_network, normalised_network}) {
    nn::Sequential theirs = make(), ours = make();
    train_by_torch(theirs);
    run_threads(1, [&](const Group& group) {
      SequentialTrainer trainer(ours, kImage, group, kOptions);
      for (int step = 0; step < kSteps; ++step) {
        const Data data = batch(step, 8);
        EXPECT_EQ(trainer.step(data.images, data.labels).images, 8u);
      }
      EXPECT_GT(distance(ours, theirs), 1e-2) << "the module is only changed by copy_to_module";
      trainer.copy_to_module();
    });
    EXPECT_LT(distance(ours, theirs), 1e-4);
  }
}

TEST(OnednnSequentialTrainer, TwoRanksLearnWhatOneDoesHoweverTheyShareTheBatch) {
  const nn::Sequential alone = train_on_ranks(1, 0);
  EXPECT_GT(distance(alone, smooth_network()), 1e-2);
  for (const std::int64_t split : {4, 5, 8})
    EXPECT_LT(distance(train_on_ranks(2, split), alone), 1e-5) << split;
}

TEST(OnednnSequentialTrainer, RanksBeginWithRankZerosWeightsAndEndWithTheSame) {
  std::vector<nn::Sequential> networks{normalised_network(), normalised_network()};
  for (torch::Tensor& tensor : networks[1]->parameters()) tensor.data().add_(1);
  run_threads(2, [&](const Group& group) {
    nn::Sequential& mine = networks[static_cast<std::size_t>(group.rank())];
    SequentialTrainer trainer(mine, kImage, group, kOptions);
    for (int step = 0; step < 3; ++step) {
      const Data data = batch(2 * step + group.rank(), 8);
      trainer.step(data.images, data.labels);
    }
    trainer.copy_to_module();
  });
  EXPECT_EQ(distance(networks[0], networks[1]), 0);
  EXPECT_GT(distance(networks[0], normalised_network()), 1e-3);
}

TEST(OnednnSequentialTrainer, WhatItHasLearntIsTheModulesAfterwards) {
  run_threads(1, [&](const Group& group) {
    nn::Sequential network = normalised_network();
    SequentialTrainer trainer(network, kImage, group, kOptions);
    for (int step = 0; step < 3; ++step) {
      const Data data = batch(step, 8);
      trainer.step(data.images, data.labels);
    }
    const Data test = batch(99, 16);
    const BatchScore score = trainer.evaluate(test.images, test.labels);
    trainer.copy_to_module();
    network->eval();
    const torch::Tensor scores = network->forward(test.images);
    const double loss = nn::functional::cross_entropy(scores, test.labels).item<double>();
    EXPECT_NEAR(score.loss_sum, 16 * loss, 1e-4);
    EXPECT_EQ(score.correct, scores.argmax(1).eq(test.labels).sum().item<std::int64_t>());
    EXPECT_EQ(score.images, 16u);
    EXPECT_EQ(network->buffers().back().item<std::int64_t>(), 3) << "batches that were seen";
  });
}

TEST(OnednnSequentialTrainer, CopiesItsModuleSoThatItMayChange) {
  run_threads(1, [&](const Group& group) {
    nn::Sequential network = normalised_network(), untouched = normalised_network();
    SequentialTrainer trainer(network, kImage, group, kOptions);
    SequentialTrainer other(untouched, kImage, group, kOptions);
    network->to(torch::kFloat64);
    for (int step = 0; step < 2; ++step) {
      const Data data = batch(step, 8);
      EXPECT_EQ(trainer.step(data.images, data.labels).loss_sum,
                other.step(data.images, data.labels).loss_sum);
    }
    other.copy_to_module();
  });
}

TEST(OnednnSequentialTrainer, TakesTensorsOfAnyStridesAndAnotherLearningRate) {
  run_threads(1, [&](const Group& group) {
    nn::Sequential first = smooth_network(), second = smooth_network();
    for (torch::Tensor& tensor : second->parameters())
      if (tensor.dim() == 4) tensor.set_data(tensor.contiguous(torch::MemoryFormat::ChannelsLast));
    SequentialTrainer plain(first, kImage, group, kOptions);
    SequentialTrainer strided(second, kImage, group, kOptions);
    const Data data = batch(1, 8);
    const torch::Tensor labels = torch::stack({data.labels, data.labels}, 1).select(1, 0);
    ASSERT_FALSE(labels.is_contiguous());
    for (int step = 0; step < 2; ++step) {
      plain.step(data.images, data.labels);
      strided.step(data.images.contiguous(torch::MemoryFormat::ChannelsLast), labels);
      plain.set_learning_rate(0);
      strided.set_learning_rate(0);
      plain.copy_to_module();
      strided.copy_to_module();
      EXPECT_EQ(distance(second, first), 0);
      EXPECT_GT(distance(first, smooth_network()), 1e-4);
    }
    const nn::Sequential kept(std::dynamic_pointer_cast<nn::SequentialImpl>(first->clone()));
    plain.step(data.images, data.labels);
    plain.copy_to_module();
    EXPECT_EQ(distance(first, kept), 0) << "with a learning rate of 0";
    testing::expect_error<UsageError>([&] { plain.set_learning_rate(-1); },
                                      {"learning rate of -1"});
  });
}

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
  /// Once as training, once as evaluation.
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

TEST_F(OnednnSequentialTrainerRefuses, NetworksThatTheEngineCannotHold) {
  expect_refused(
      nn::Sequential(convolution(3, 8), nn::Dropout(), nn::Flatten(), nn::Linear(8 * 64, kClasses)),
      {"layer 1", "Dropout", "DistributedDataParallel"});
  expect_refused(nn::Sequential(convolution(4, 8), nn::Flatten(), nn::Linear(8 * 64, kClasses)),
                 {"layer 0", "takes 4 channels and is given 3"});
  nn::Sequential frozen = smooth_network();
  frozen->parameters()[0].set_requires_grad(false);
  expect_refused(frozen, {"layer 0", "frozen"});
  nn::Sequential doubled = smooth_network();
  doubled->to(torch::kFloat64);
  expect_refused(doubled, {"'0.weight'", "Double", "float32"});
  expect_refused(nn::Sequential(nullptr), {"needs a network"});
  expect_refused(nn::Sequential(), {"last layer is Linear"});
}

TEST_F(OnednnSequentialTrainerRefuses, OptionsThatMakeNoSense) {
  expect_refused(smooth_network(), {"batch is 0"}, {.batch = 0});
  expect_refused(smooth_network(), {"momentum of 1"}, {.momentum = 1});
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

TEST_F(OnednnSequentialTrainerRefuses, BatchesThatCannotBeRight) {
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
}  // namespace lockstep
