// Converts a user's model to batch norm over all ranks, or reports why it cannot.
#include <lockstep/ddp.h>
#include <lockstep/error.h>
#include <lockstep/sync_batch_norm.h>

#include "ddp/branches.h"
#include "support/errors.h"

#include <gtest/gtest.h>

namespace lockstep::internal {
namespace {

namespace nn = torch::nn;

/// The ways in which a Sequential can be a layer of another.
struct Nested : nn::SequentialImpl {
  using nn::SequentialImpl::SequentialImpl;
  torch::Tensor forward(const torch::Tensor& input) { return SequentialImpl::forward(input); }
};

nn::Sequential make_layers() {
  return nn::Sequential(nn::Conv2d(2, 4, 3), nn::BatchNorm2d(nn::BatchNormOptions(4).momentum(0.3)),
                        std::make_shared<Nested>(nn::Flatten(), nn::BatchNorm1d(16)),
                        nn::Linear(16, 3));
}

/// A model with members, whose batch norm is a SyncBatchNorm.
struct ConvolutionalNet : nn::Module {
  ConvolutionalNet() {
    register_module("layers", layers);
    register_module("norm", norm);
    to(torch::kFloat64);
  }
  torch::Tensor forward(const torch::Tensor& images) { return norm(layers->forward(images)); }

  nn::Sequential layers = make_layers();
  SyncBatchNorm norm{3};
};

struct Stubborn : nn::Module {
  Stubborn() {
    register_module("inner", inner);
    register_module("bn1", bn1);
  }
  nn::Sequential inner = make_layers();
  nn::BatchNorm2d bn1{4};
};

TEST(ConvertSyncBatchNorm, KeepsTensorsOptionsNamesAndMode) {
  run_threads(1, [](const Group& group) {
    nn::Sequential layers = make_layers();
    const auto before = layers->named_parameters();
    const auto buffers = layers->named_buffers();
    layers->eval();
    EXPECT_EQ(convert_sync_batch_norm(*layers, group), 2u);
    const auto* norm = layers[1]->as<SyncBatchNorm>();
    ASSERT_NE(norm, nullptr);
    EXPECT_EQ(norm->options.momentum(), 0.3);
    EXPECT_FALSE(norm->is_training());
    const auto after = layers->named_parameters();
    EXPECT_EQ(after.keys(), before.keys());
    for (const auto& parameter : after) EXPECT_TRUE(parameter->is_same(before[parameter.key()]));
    EXPECT_EQ(layers->named_buffers().keys(), buffers.keys());
    for (const auto& buffer : layers->named_buffers())
      EXPECT_TRUE(buffer->is_same(buffers[buffer.key()]));
    EXPECT_EQ(convert_sync_batch_norm(*layers, group), 2u);  // a second call changes nothing
  });
}

TEST(ConvertSyncBatchNorm, ALayerUsedTwiceStaysOneLayer) {
  run_threads(1, [](const Group& group) {
    nn::BatchNorm1d shared(3);
    nn::Sequential layers(nn::Linear(3, 3), shared, nn::Linear(3, 3), shared);
    EXPECT_EQ(convert_sync_batch_norm(*layers, group), 1u);
    EXPECT_NE(layers[1]->as<SyncBatchNorm>(), nullptr);
    EXPECT_EQ(layers[1], layers[3]);
  });
}

TEST(ConvertSyncBatchNorm, NamesBatchNormThatCannotBeReplacedAndChangesNothing) {
  run_threads(1, [](const Group& group) {
    Stubborn stubborn;
    testing::expect_error<UsageError>([&] { convert_sync_batch_norm(stubborn, group); },
                                      {"declare bn1 as lockstep::SyncBatchNorm"});
    EXPECT_NE(stubborn.inner[1]->as<nn::BatchNorm2d>(), nullptr);
    nn::BatchNorm2d alone(4);
    testing::expect_error<UsageError>([&] { convert_sync_batch_norm(*alone, group); },
                                      {"declare the module itself as"});
    nn::Linear none(2, 2);
    EXPECT_EQ(convert_sync_batch_norm(*none, group), 0u);
  });
}

/// A batch of 10, split into 4, 3 and 3.
struct ImageBatch {
  ImageBatch() {
    torch::manual_seed(7);
    images = torch::randn({10, 2, 4, 4}, torch::kFloat64);
    labels = torch::randint(3, {10}, torch::kInt64);
  }
  torch::Tensor images, labels;
};

torch::Tensor mean_loss(ConvolutionalNet& net, const torch::Tensor& images,
                        const torch::Tensor& labels) {
  return nn::functional::cross_entropy(net.forward(images), labels);
}

TEST(ConvertSyncBatchNorm, WithDdpEqualsOneProcessWithTheWholeBatch) {
  const ImageBatch batch;
  std::vector<std::shared_ptr<ConvolutionalNet>> nets;
  for (int i = 0; i < 4; ++i) {
    torch::manual_seed(3);
    nets.push_back(std::make_shared<ConvolutionalNet>());
  }
  const auto alone = nets[3];
  const auto make_sgd = [](const ConvolutionalNet& net) {
    return torch::optim::SGD(net.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  };
  torch::optim::SGD alone_sgd = make_sgd(*alone);
  for (int step = 0; step < 3; ++step) {
    alone_sgd.zero_grad();
    mean_loss(*alone, batch.images, batch.labels).backward();
    alone_sgd.step();
  }
  run_threads(3, [&](const Group& group) {
    const auto& net = nets[group.rank()];
    EXPECT_EQ(convert_sync_batch_norm(*net, group), 3u);
    // Every bucket is sent as soon as it is ready, between batch norm's messages.
    DistributedDataParallel ddp(net, group, testing::kSmallBuckets);
    torch::optim::SGD sgd = make_sgd(*net);
    const std::int64_t begin = group.rank() == 0 ? 0 : 1 + 3 * group.rank();
    const std::int64_t count = group.rank() == 0 ? 4 : 3;
    for (int step = 0; step < 3; ++step) {
      sgd.zero_grad();
      const torch::Tensor loss = mean_loss(*net, batch.images.narrow(0, begin, count),
                                           batch.labels.narrow(0, begin, count));
      (loss * (3.0 * static_cast<double>(count) / 10)).backward();
      sgd.step();
    }
    const auto wanted = alone->named_parameters();
    for (const auto& parameter : net->named_parameters())
      EXPECT_LE((*parameter - wanted[parameter.key()]).norm().item<double>(), 1e-12)
          << parameter.key();
    const auto buffers = alone->named_buffers();
    for (const auto& buffer : net->named_buffers())
      EXPECT_LE((*buffer - buffers[buffer.key()]).norm().item<double>(), 1e-12) << buffer.key();
  });
}

}  // namespace
}  // namespace lockstep::internal
