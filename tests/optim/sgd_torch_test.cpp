// Compares SGD with PyTorch's, step by step.
#include "base/random.h"
#include "optim/sgd.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <vector>

namespace lockstep::internal::optim {
namespace {

/// The largest difference from PyTorch's weights in 20 steps with random gradients.
template <typename T>
double distance_from_torch(const SgdOptions& options) {
  constexpr std::int64_t kCount = 1003;
  const auto type = torch::CppTypeToScalarType<T>::value;
  torch::Tensor theirs = torch::linspace(-1, 1, kCount, type).requires_grad_();
  std::vector<T> weights(theirs.data_ptr<T>(), theirs.data_ptr<T>() + kCount), gradients(kCount);
  const auto ours = make_sgd<T>(weights, gradients, options);
  torch::optim::SGD sgd({theirs}, torch::optim::SGDOptions(options.learning_rate)
                                      .momentum(options.momentum)
                                      .weight_decay(options.weight_decay)
                                      .nesterov(options.nesterov));
  Random random(3);
  for (int step = 0; step < 20; ++step) {
    for (T& value : gradients) value = static_cast<T>(2 * random.uniform() - 1);
    theirs.mutable_grad() = torch::from_blob(gradients.data(), {kCount}, type).clone();
    sgd.step();
    ours->step(0, ours->size());
  }
  const torch::Tensor mine = torch::from_blob(weights.data(), {kCount}, type);
  return (mine - theirs.detach()).abs().max().template item<double>();
}

TEST(SgdAndTorch, MakeTheSameSteps) {
  for (const SgdOptions& options :
       {SgdOptions{.learning_rate = 0.1}, SgdOptions{.learning_rate = 0.1, .weight_decay = 0.01},
        SgdOptions{.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01},
        SgdOptions{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true},
        SgdOptions{
            .learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true}}) {
    EXPECT_LT(distance_from_torch<double>(options), 1e-14);
    EXPECT_LT(distance_from_torch<float>(options), 1e-5);
  }
}

}  // namespace
}  // namespace lockstep::internal::optim
