// Our tile kernels, in every version and with any number of threads, compared with torch in
// float64.
#include "engine/onednn/kernels/tile_kernels.h"
#include "engine/onednn_support.h"

#include <limits>
#include <ostream>

namespace lockstep::internal::engine::onednn {

std::ostream& operator<<(std::ostream& out, const TileShape& shape) {
  return out << shape.batch << " images, " << shape.channels_in << " to " << shape.channels_out
             << " channels on " << shape.height << "×" << shape.width;
}

namespace {

std::vector<const TileKernels*> runnable_tiles() {
  std::vector<const TileKernels*> units{&plain_tile_kernels()};
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    units.push_back(&avx512_tile_kernels());
  return units;
}

/// Of [N, C, H, W] or of one value per channel.
torch::Tensor blocked(const torch::Tensor& maps) {
  if (maps.dim() == 1) return maps;
  return maps.reshape({maps.size(0), maps.size(1) / 16, 16, maps.size(2), maps.size(3)})
      .permute({0, 1, 3, 4, 2});
}

torch::Tensor blocked_weights(const torch::Tensor& weights) {
  return weights.reshape({weights.size(0) / 16, 16, weights.size(1) / 16, 16, 3, 3})
      .permute({0, 2, 4, 5, 3, 1});
}

std::vector<float> values(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().to(torch::kFloat32).contiguous().flatten();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

/// A convolution and its gradients by torch.
struct Reference {
  explicit Reference(const TileShape& shape) {
    torch::manual_seed(7);
    const auto batch = static_cast<std::int64_t>(shape.batch);
    const auto in = static_cast<std::int64_t>(shape.channels_in);
    const auto out = static_cast<std::int64_t>(shape.channels_out);
    const auto height = static_cast<std::int64_t>(shape.height);
    const auto width = static_cast<std::int64_t>(shape.width);
    input = random({batch, in, height, width});
    weights = random({out, in, 3, 3});
    bias = random({out});
    output = torch::conv2d(input, weights, bias, 1, 1);
    gradient = random({batch, out, height, width}).detach();
    output.backward(gradient);
  }
  /// Numbers that are exact in float32.
  static torch::Tensor random(at::IntArrayRef shape) {
    return torch::randn(shape).to(torch::kFloat64).requires_grad_();
  }

  torch::Tensor input, weights, bias, output, gradient;
};

/// Scratch memory of exactly the documented size. None may be read before it is written, and
/// nothing after it may be accessed.
class Scratch {
 public:
  explicit Scratch(std::size_t floats) : memory_(floats + kGuard, kNoNumber) {}
  ~Scratch() {
    for (std::size_t i = memory_.size() - kGuard; i < memory_.size(); ++i)
      EXPECT_TRUE(std::isnan(memory_[i])) << "wrote behind its scratch memory";
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  float* data() { return memory_.data(); }

 private:
  static constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
  static constexpr std::size_t kGuard = 64;
  std::vector<float> memory_;
};

/// The results of the three passes.
struct Results {
  explicit Results(const Reference& reference)
      : output(values(reference.output).size()),
        without_bias(output.size()),
        input_gradient(values(reference.input).size()),
        weights_gradient(values(reference.weights).size()),
        without_bias_gradient(weights_gradient.size()),
        bias_gradient(values(reference.bias).size()) {}
  bool operator==(const Results&) const = default;

  std::vector<float> output, without_bias, input_gradient, weights_gradient, without_bias_gradient,
      bias_gradient;
};

Results run(const TileKernels& kernels, const TileShape& shape, const Reference& reference) {
  Results results(reference);
  const std::vector<float> input = values(blocked(reference.input));
  const std::vector<float> weights = values(blocked_weights(reference.weights));
  const std::vector<float> gradient = values(blocked(reference.gradient));
  Scratch forward(scratch_of_forward(shape));
  kernels.forward(input.data(), weights.data(), values(reference.bias).data(),
                  results.output.data(), forward.data(), shape);
  kernels.forward(input.data(), weights.data(), nullptr, results.without_bias.data(),
                  forward.data(), shape);
  Scratch back(scratch_of_backward_data(shape));
  kernels.backward_data(gradient.data(), weights.data(), results.input_gradient.data(), back.data(),
                        shape);
  Scratch to_weights(scratch_of_backward_weights(shape));
  kernels.backward_weights(input.data(), gradient.data(), results.weights_gradient.data(),
                           results.bias_gradient.data(), to_weights.data(), shape);
  kernels.backward_weights(input.data(), gradient.data(), results.without_bias_gradient.data(),
                           nullptr, to_weights.data(), shape);
  return results;
}

void expect_near(const Results& results, const Reference& reference, double tolerance) {
  const torch::Tensor bias = reference.bias.reshape({1, -1, 1, 1});
  EXPECT_LT(relative_error(results.output, blocked(reference.output)), tolerance);
  EXPECT_LT(relative_error(results.without_bias, blocked(reference.output - bias)), tolerance);
  EXPECT_LT(relative_error(results.input_gradient, blocked(reference.input.grad())), tolerance);
  EXPECT_LT(relative_error(results.weights_gradient, blocked_weights(reference.weights.grad())),
            tolerance);
  EXPECT_EQ(results.weights_gradient, results.without_bias_gradient);
  EXPECT_LT(relative_error(results.bias_gradient, reference.bias.grad()), 1e-6);
}

/// Maps of one tile and of several. Batches around the sizes of vectors, groups, depths and parts;
/// channels around the size of panels.
const TileShape kShapes[] = {
    {1, 16, 16, 2, 2},   {3, 32, 16, 2, 2},    {17, 48, 80, 2, 2},  {64, 64, 64, 2, 2},
    {70, 16, 144, 2, 2}, {129, 160, 96, 2, 2}, {700, 16, 16, 2, 2}, {1, 16, 16, 4, 4},
    {3, 16, 32, 4, 4},   {16, 80, 48, 4, 4},   {48, 144, 16, 4, 4}, {70, 16, 80, 4, 4},
    {180, 32, 16, 4, 4}, {3, 32, 16, 8, 8},    {35, 144, 80, 8, 8}, {5, 16, 16, 8, 4},
    {2, 16, 32, 4, 12},  {14, 32, 32, 16, 16}, {40, 272, 16, 16, 8}};

class OnednnTileKernels : public ::testing::TestWithParam<TileShape> {};

INSTANTIATE_TEST_SUITE_P(All, OnednnTileKernels, ::testing::ValuesIn(kShapes));

TEST_P(OnednnTileKernels, AgreeWithTorch) {
  TileShape shape = GetParam();
  const Reference reference(shape);
  for (const TileKernels* kernels : runnable_tiles()) {
    SCOPED_TRACE(kernels->name);
    const Results results = run(*kernels, shape, reference);
    expect_near(results, reference, shape.height == 2 ? 1e-6 : 3e-6);
    for (const std::size_t threads : {3u, 4u}) {
      shape.threads = threads;
      EXPECT_TRUE(run(*kernels, shape, reference) == results) << threads << " threads";
    }
    shape.threads = 1;
  }
}

}  // namespace
}  // namespace lockstep::internal::engine::onednn
