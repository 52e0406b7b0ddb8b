// Every supported layer in a small model, compared with torch in float64: loss, gradients, running
// statistics and evaluation.
#include "engine/onednn_support.h"
#include "models/resnet.h"

namespace lockstep::internal::engine {
namespace {

namespace nn = torch::nn;

struct LayerCase {
  const char* name;
  data::ImageShape images;
  std::size_t batch;
  nn::Sequential (*make)();
};

std::ostream& operator<<(std::ostream& out, const LayerCase& shown) {
  return out << shown.name;
}

nn::Conv2d convolution(int in, int out, int kernel, int stride = 1, int padding = 0,
                       bool bias = true) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).stride(stride).padding(padding).bias(bias));
}

/// The layer before the tested one: its gradients show those that the tested layer passes back.
const LayerCase kLayerCases[] = {
    {"first_layer",
     {3, 9, 7},
     3,
     [] { return nn::Sequential(convolution(3, 6, 3), nn::Flatten(), nn::Linear(6 * 7 * 5, 10)); }},
    {"kernel_5",
     {1, 12, 12},
     4,
     [] {
       return nn::Sequential(convolution(1, 6, 5), convolution(6, 16, 5), nn::Flatten(),
                             nn::Linear(16 * 4 * 4, 10));
     }},
    {"kernel_3_of_64_channels",
     {3, 8, 8},
     5,
     [] {
       return nn::Sequential(convolution(3, 64, 3, 1, 1), convolution(64, 64, 3, 1, 1),
                             nn::Flatten(), nn::Linear(64 * 8 * 8, 10));
     }},
    {"kernel_3_on_2x2",
     {3, 2, 2},
     6,
     [] {
       return nn::Sequential(convolution(3, 32, 3, 1, 1), convolution(32, 64, 3, 1, 1),
                             nn::Flatten(), nn::Linear(64 * 2 * 2, 10));
     }},
    {"kernel_3_on_4x4",
     {3, 4, 4},
     5,
     [] {
       return nn::Sequential(convolution(3, 32, 3, 1, 1), convolution(32, 64, 3, 1, 1),
                             convolution(64, 48, 3, 1, 1, false), nn::Flatten(),
                             nn::Linear(48 * 4 * 4, 10));
     }},
    {"kernel_3_on_2x2_first_and_without_bias",
     {16, 2, 2},
     70,
     [] {
       return nn::Sequential(convolution(16, 32, 3, 1, 1), convolution(32, 32, 3, 1, 1, false),
                             nn::Flatten(), nn::Linear(32 * 2 * 2, 10));
     }},
    {"kernel_3_on_2x2_without_padding_of_1",
     {3, 4, 4},
     3,
     [] {
       return nn::Sequential(convolution(3, 32, 3), convolution(32, 16, 3, 1, 2), nn::Flatten(),
                             nn::Linear(16 * 4 * 4, 10));
     }},
    {"kernel_3_on_odd_maps",
     {3, 11, 7},
     2,
     [] {
       return nn::Sequential(convolution(3, 16, 3, 1, 1), convolution(16, 32, 3, 1, 1),
                             nn::Flatten(), nn::Linear(32 * 11 * 7, 10));
     }},
    {"20_channels",
     {3, 9, 9},
     3,
     [] {
       return nn::Sequential(convolution(3, 20, 3), convolution(20, 20, 3, 1, 2), nn::Flatten(),
                             nn::Linear(20 * 9 * 9, 10));
     }},
    {"20_channels_between_blocked_ones",
     {3, 6, 6},
     3,
     [] {
       return nn::Sequential(convolution(3, 16, 3, 1, 1), convolution(16, 20, 3, 1, 1),
                             convolution(20, 32, 3, 1, 1), nn::Flatten(),
                             nn::Linear(32 * 6 * 6, 10));
     }},
    {"stride_2",
     {3, 9, 9},
     3,
     [] {
       return nn::Sequential(convolution(3, 16, 3, 1, 1), convolution(16, 32, 3, 2, 1),
                             nn::Flatten(), nn::Linear(32 * 5 * 5, 10));
     }},
    {"kernel_1",
     {3, 7, 7},
     3,
     [] {
       return nn::Sequential(convolution(3, 16, 3), convolution(16, 64, 1), convolution(64, 6, 1),
                             nn::Flatten(), nn::Linear(6 * 5 * 5, 10));
     }},
    {"kernel_1_stride_2_without_bias",
     {3, 8, 8},
     3,
     [] {
       return nn::Sequential(convolution(3, 64, 3, 1, 1), convolution(64, 32, 1, 2, 0, false),
                             nn::Flatten(), nn::Linear(32 * 4 * 4, 10));
     }},
    {"oblong_kernel",
     {3, 8, 9},
     2,
     [] {
       return nn::Sequential(
           convolution(3, 16, 3),
           nn::Conv2d(nn::Conv2dOptions(16, 16, {3, 5}).stride({1, 2}).padding({0, 1})),
           nn::Flatten(), nn::Linear(16 * 4 * 3, 10));
     }},
    {"covering_kernel_then_maps",
     {3, 6, 6},
     4,
     [] {
       return nn::Sequential(convolution(3, 16, 3), convolution(16, 24, 4), nn::BatchNorm2d(24),
                             nn::ReLU(), convolution(24, 16, 1), nn::Flatten(), nn::Linear(16, 10));
     }},
    {"batch_norm",
     {3, 6, 6},
     4,
     [] {
       return nn::Sequential(convolution(3, 64, 3), nn::BatchNorm2d(64), nn::Flatten(),
                             nn::Linear(64 * 4 * 4, 10));
     }},
    {"batch_norm_and_relu",
     {3, 6, 6},
     4,
     [] {
       return nn::Sequential(convolution(3, 64, 3),
                             nn::BatchNorm2d(nn::BatchNorm2dOptions(64).momentum(0.3).eps(1e-3)),
                             nn::ReLU(), nn::Flatten(), nn::Linear(64 * 4 * 4, 10));
     }},
    {"batch_norm_of_20_channels_and_relu",
     {3, 6, 6},
     4,
     [] {
       return nn::Sequential(convolution(3, 20, 3), nn::BatchNorm2d(20), nn::ReLU(), nn::Flatten(),
                             nn::Linear(20 * 4 * 4, 10));
     }},
    {"batch_norm_of_images",
     {3, 4, 4},
     4,
     [] {
       return nn::Sequential(nn::BatchNorm2d(3), convolution(3, 16, 3), nn::Flatten(),
                             nn::Linear(16 * 2 * 2, 10));
     }},
    {"relu",
     {3, 5, 5},
     4,
     [] {
       return nn::Sequential(convolution(3, 16, 3), nn::ReLU(), nn::Flatten(),
                             nn::Linear(16 * 3 * 3, 24), nn::ReLU(), nn::Linear(24, 10));
     }},
    {"tanh_twice",
     {3, 5, 5},
     4,
     [] {
       return nn::Sequential(convolution(3, 6, 3), nn::Tanh(), nn::Tanh(), nn::Flatten(),
                             nn::Linear(6 * 3 * 3, 20), nn::Tanh(), nn::Linear(20, 10));
     }},
    {"max_pool",
     {3, 8, 8},
     3,
     [] {
       return nn::Sequential(convolution(3, 16, 3, 1, 1), nn::MaxPool2d(2), nn::Flatten(),
                             nn::Linear(16 * 4 * 4, 10));
     }},
    {"max_pool_that_leaves_a_row",
     {3, 9, 7},
     3,
     [] {
       return nn::Sequential(convolution(3, 20, 3, 1, 1), nn::MaxPool2d(2), nn::Flatten(),
                             nn::Linear(20 * 4 * 3, 10));
     }},
    {"max_pool_that_overlaps",
     {3, 9, 9},
     3,
     [] {
       return nn::Sequential(convolution(3, 64, 3, 1, 1),
                             nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)),
                             nn::Flatten(), nn::Linear(64 * 5 * 5, 10));
     }},
    {"average_pool",
     {3, 8, 8},
     3,
     [] {
       return nn::Sequential(convolution(3, 6, 3, 1, 1), nn::AvgPool2d(2), nn::Flatten(),
                             nn::Linear(6 * 4 * 4, 10));
     }},
    {"average_pool_with_padding",
     {3, 9, 9},
     3,
     [] {
       return nn::Sequential(convolution(3, 16, 3, 1, 1),
                             nn::AvgPool2d(nn::AvgPool2dOptions(3).stride(2).padding(1)),
                             nn::Flatten(), nn::Linear(16 * 5 * 5, 10));
     }},
    {"shortcut",
     {3, 6, 6},
     3,
     [] {
       return nn::Sequential(convolution(3, 16, 3, 1, 1), models::BasicBlock(16, 16, 1),
                             models::BasicBlock(16, 16, 1), nn::Flatten(),
                             nn::Linear(16 * 6 * 6, 10));
     }},
    {"shortcut_to_another_shape",
     {3, 7, 7},
     3,
     [] {
       return nn::Sequential(convolution(3, 16, 3, 1, 1), models::BasicBlock(16, 32, 2),
                             models::BasicBlock(32, 24, 1), nn::Flatten(),
                             nn::Linear(24 * 4 * 4, 10));
     }},
    {"linear_without_bias",
     {3, 4, 4},
     5,
     [] {
       return nn::Sequential(nn::Flatten(), nn::Linear(nn::LinearOptions(48, 33).bias(false)),
                             nn::Tanh(), nn::Linear(33, 10));
     }},
};

class OnednnLayer : public ::testing::TestWithParam<LayerCase> {
 protected:
  /// The same model twice: for the engine, and in float64 for torch.
  OnednnLayer() {
    torch::manual_seed(3);
    ours_ = GetParam().make();
    theirs_ = GetParam().make();
    models::convert(*theirs_, DataType::float64);
    models::load_state(*theirs_, models::state_of(*ours_), "ours");
  }

  void train_beside_torch(std::string_view convolutions, double tolerance) {
    const auto& [name, images, size, make] = GetParam();
    const data::Batch batch = random_batch(images, size);
    run_threads(1, [&](const Group& group) {
      BoundEngine ours(group,
                       make_onednn_engine(
                           ours_, {.images = images, .batch = size, .convolutions = convolutions}));
      const double loss = ours.train(batch).loss_sum;
      const double expected = torch_loss(theirs_, batch, images, true);
      EXPECT_NEAR(loss, expected, tolerance * expected);
      const std::vector<torch::Tensor> parameters = theirs_->parameters();
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (is_noise(parameters[i].grad())) continue;
        EXPECT_LT(relative_error(ours.plain_gradient(i), parameters[i].grad()), tolerance)
            << ours.engine->parameters()[i].name;
      }
      expect_same_buffers(tolerance);
      EXPECT_NEAR(ours.engine->evaluate(batch).loss_sum, torch_loss(theirs_, batch, images, false),
                  tolerance * expected);
    });
  }

  void expect_same_buffers(double tolerance) {
    const auto expected = theirs_->named_buffers();
    for (const auto& named : ours_->named_buffers()) {
      const torch::Tensor values = named.value().to(torch::kFloat32).contiguous();
      EXPECT_LT(relative_error({values.data_ptr<float>(), static_cast<std::size_t>(values.numel())},
                               expected[named.key()]),
                tolerance)
          << named.key();
    }
  }

  nn::Sequential ours_{nullptr};
  nn::Sequential theirs_{nullptr};
};

INSTANTIATE_TEST_SUITE_P(All, OnednnLayer, ::testing::ValuesIn(kLayerCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(OnednnLayer, AgreesWithTorch) {
  train_beside_torch("direct", 1e-5);
}

TEST_P(OnednnLayer, AgreesWithFewerMultiplications) {
  train_beside_torch("fixed", 1e-4);
}

}  // namespace
}  // namespace lockstep::internal::engine
