// Gradients in flat memory, each reported as soon as it is final.
#include "ddp/gradient_hooks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace lockstep::internal::ddp {
namespace {

/// Three layers whose gradients are in flat memory, and the calls of their hooks.
struct Hooked {
  explicit Hooked(Group group)
      : net(torch::nn::Linear(3, 4), torch::nn::Linear(4, 4), torch::nn::Linear(4, 2)),
        gradients(group, describe(*net), sync::Layout(describe(*net), DataType::float32)) {
    hooks.emplace(net->parameters(), gradients, [this](std::size_t i) { ready.push_back(i); });
  }

  void backward() { net->forward(torch::ones({1, 3})).sum().backward(); }

  torch::nn::Sequential net;
  sync::Gradients gradients;
  std::vector<std::size_t> ready;
  std::optional<GradientHooks> hooks;
};

TEST(GradientHooks, ReportEveryParameterOnceLastLayerFirst) {
  run_threads(1, [](const Group& group) {
    Hooked hooked(group);
    for (int step = 0; step < 2; ++step) {
      hooked.ready.clear();
      hooked.backward();
      std::vector<std::size_t> layers;
      for (std::size_t parameter : hooked.ready) layers.push_back(parameter / 2);
      EXPECT_EQ(layers, (std::vector<std::size_t>{2, 2, 1, 1, 0, 0}));
      std::ranges::sort(hooked.ready);
      EXPECT_EQ(hooked.ready, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
    }
  });
}

TEST(GradientHooks, GradientsAreInFlatMemoryWhenTheyAreReady) {
  run_threads(1, [](Group group) {
    torch::nn::Linear layer(3, 1);
    sync::Gradients gradients(group, describe(*layer),
                              sync::Layout(describe(*layer), DataType::float32));
    std::vector<float> seen;
    GradientHooks hooks(layer->parameters(), gradients, [&](std::size_t i) {
      seen.push_back(static_cast<const float*>(gradients.of(i).data)[0]);
    });
    for (bool set_to_none : {false, true}) {
      layer->zero_grad(set_to_none);
      layer->forward(torch::full({1, 3}, 5.0)).sum().backward();
    }
    std::ranges::sort(seen);
    EXPECT_EQ(seen, (std::vector<float>{1, 1, 5, 5}));
    EXPECT_EQ(layer->weight.grad().data_ptr(), gradients.of(0).data);
  });
}

TEST(GradientHooks, AreNotCalledAfterDestruction) {
  run_threads(1, [](const Group& group) {
    Hooked hooked(group);
    hooked.hooks.reset();
    hooked.backward();
    EXPECT_TRUE(hooked.ready.empty());
    for (std::size_t i = 0; i < 6; ++i)
      EXPECT_NE(hooked.net->parameters()[i].grad().data_ptr(), hooked.gradients.of(i).data);
  });
}

TEST(Describe, HasTheNamesAndSizesInPyTorchsOrder) {
  const torch::nn::Sequential net(torch::nn::Linear(3, 4), torch::nn::Tanh(),
                                  torch::nn::Linear(4, 2));
  std::vector<std::pair<std::string, std::size_t>> found;
  for (const sync::Parameter& parameter : describe(*net))
    found.emplace_back(parameter.name, parameter.count);
  EXPECT_EQ(found, (std::vector<std::pair<std::string, std::size_t>>{
                       {"0.weight", 12}, {"0.bias", 4}, {"2.weight", 8}, {"2.bias", 2}}));
}

}  // namespace
}  // namespace lockstep::internal::ddp
