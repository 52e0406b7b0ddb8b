// SequentialTrainer: compared with torch, and on several ranks.
#include <lockstep/error.h>
#include <lockstep/sync_batch_norm.h>

#include "support/errors.h"
#include "train/own_networks.h"

#include <gtest/gtest.h>

namespace lockstep::internal {
namespace {

namespace nn = torch::nn;

constexpr int kTrainerSteps = 10;

nn::Sequential normalised_network() {
  torch::manual_seed(3);
  return nn::Sequential(convolution(3, 16), nn::BatchNorm2d(16), nn::ReLU(), nn::MaxPool2d(2),
                        convolution(16, 20), nn::BatchNorm2d(20), nn::ReLU(), nn::Flatten(),
                        nn::Linear(20 * 4 * 4, kClasses));
}

/// Trains the module with torch, on whole batches of 8.
void train_by_torch(nn::Sequential& network) {
  torch::optim::SGD sgd(network->parameters(), torch::optim::SGDOptions(kOptions.learning_rate)
                                                   .momentum(kOptions.momentum)
                                                   .weight_decay(kOptions.weight_decay)
                                                   .nesterov(kOptions.nesterov));
  network->train();
  for (int step = 0; step < kTrainerSteps; ++step) {
    const Data data = batch(step, 8);
    sgd.zero_grad();
    nn::functional::cross_entropy(network->forward(data.images), data.labels).backward();
    sgd.step();
  }
}

/// |a − b| / |b| over all parameters and buffers of two networks.
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

/// Trains on several ranks, with batch norm over all ranks, on slices of the same batches of 8. The
/// last rank's slice begins at `split`. Returns rank 0's module.
nn::Sequential train_on_ranks(int ranks, std::int64_t split,
                              nn::Sequential (*make)() = smooth_network) {
  nn::Sequential result = make();
  run_threads(ranks, [&](const Group& group) {
    const bool first = group.rank() == 0;
    nn::Sequential mine = first ? result : make();
    convert_sync_batch_norm(*mine, group);
    SequentialTrainer trainer(mine, kImage, group, kOptions);
    const bool alone = group.size() == 1;
    for (int step = 0; step < kTrainerSteps; ++step) {
      const Data data = batch(step, 8, first ? 0 : split, first && !alone ? split : 8);
      trainer.step(data.images, data.labels, 8);
    }
    trainer.copy_to_module();
  });
  return result;
}

TEST(OnednnSequentialTrainer, TrainsLikeTorch) {
  for (auto make : {smooth_network, normalised_network}) {
    nn::Sequential theirs = make(), ours = make();
    train_by_torch(theirs);
    run_threads(1, [&](const Group& group) {
      SequentialTrainer trainer(ours, kImage, group, kOptions);
      for (int step = 0; step < kTrainerSteps; ++step) {
        const Data data = batch(step, 8);
        EXPECT_EQ(trainer.step(data.images, data.labels).images, 8u);
      }
      EXPECT_GT(distance(ours, theirs), 1e-2) << "the module is only changed by copy_to_module";
      trainer.copy_to_module();
    });
    EXPECT_LT(distance(ours, theirs), 1e-4);
  }
}

TEST(OnednnSequentialTrainer, RanksWithSyncedNormsEqualTorchOnTheWholeBatch) {
  nn::Sequential theirs = normalised_network();
  train_by_torch(theirs);
  for (const std::int64_t split : {5, 8})  // the latter leaves rank 1 without images
    EXPECT_LT(distance(train_on_ranks(2, split, normalised_network), theirs), 1e-4) << split;
}

TEST(OnednnSequentialTrainer, TwoRanksEqualOneForAnySplitOfTheBatch) {
  const nn::Sequential alone = train_on_ranks(1, 0);
  EXPECT_GT(distance(alone, smooth_network()), 1e-2);
  for (const std::int64_t split : {4, 5, 8})
    EXPECT_LT(distance(train_on_ranks(2, split), alone), 1e-5) << split;
}

TEST(OnednnSequentialTrainer, RanksStartWithRankZerosWeightsAndEndEqual) {
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

TEST(OnednnSequentialTrainer, WeightsAreCopiedBackToTheModule) {
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

TEST(OnednnSequentialTrainer, TheModuleMayChangeAfterConstruction) {
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

TEST(OnednnSequentialTrainer, AcceptsAnyStridesAndANewLearningRate) {
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
                                      {"the learning rate is -1"});
  });
}

}  // namespace
}  // namespace lockstep::internal
