// Small networks and batches for tests of SequentialTrainer.
#pragma once

#include <lockstep/sequential_trainer.h>

#include <array>

namespace lockstep::internal {

inline constexpr std::array<std::int64_t, 3> kImage{3, 8, 8};
inline constexpr std::int64_t kClasses = 5;
inline const SequentialTrainerOptions kOptions{
    .batch = 8, .learning_rate = 0.05, .momentum = 0.9, .weight_decay = 1e-3, .nesterov = true};

inline torch::nn::Conv2d convolution(int from, int to) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(from, to, 3).padding(1));
}

/// Always the same weights.
inline torch::nn::Sequential smooth_network() {
  torch::manual_seed(3);
  return torch::nn::Sequential(convolution(3, 16), torch::nn::Tanh(), torch::nn::AvgPool2d(2),
                               convolution(16, 16), torch::nn::Tanh(), torch::nn::Flatten(),
                               torch::nn::Linear(16 * 4 * 4, kClasses));
}

struct Data {
  torch::Tensor images;
  torch::Tensor labels;
};

/// Images `from` to `to` of the `count` images of a step.
inline Data batch(int step, std::int64_t count, std::int64_t from = 0, std::int64_t to = 1000) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(step));
  const torch::Tensor images =
      at::randn({count, kImage[0], kImage[1], kImage[2]}, generator, torch::kFloat32);
  const torch::Tensor labels = at::randint(kClasses, {count}, generator, torch::kInt64);
  return {images.slice(0, from, to), labels.slice(0, from, to)};
}

}  // namespace lockstep::internal
