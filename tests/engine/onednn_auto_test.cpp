// Engines whose convolution methods are measured or given.
#include "engine/make_engine.h"
#include "engine/onednn_support.h"
#include "support/environment.h"
#include "support/temporary_folder.h"

#include <filesystem>

namespace lockstep::internal::engine {
namespace {

namespace nn = torch::nn;

constexpr data::ImageShape kSmallImages{3, 6, 6};
constexpr std::size_t kSmallBatch = 4;

nn::Sequential make_small_model() {
  auto convolution = [](int from, int to) {
    return nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1));
  };
  torch::manual_seed(3);
  return nn::Sequential(convolution(3, 32), convolution(32, 32), nn::ReLU(), nn::Flatten(),
                        nn::Linear(32 * 36, 10));
}

class OnednnAuto : public ::testing::Test {
 protected:
  /// All gradients after a step, in plain layout, and the loss of an evaluation.
  std::vector<float> results(const OnednnEngineOptions& options, std::size_t batch) {
    std::vector<float> all;
    run_threads(1, [&](const Group& group) {
      BoundEngine bound(group, make_onednn_engine(make_small_model(), options));
      const data::Batch images = random_batch(kSmallImages, batch);
      bound.train(images);
      for (std::size_t i = 0; i < bound.engine->parameters().size(); ++i) {
        const std::vector<float> plain = bound.plain_gradient(i);
        all.insert(all.end(), plain.begin(), plain.end());
      }
      all.push_back(static_cast<float>(bound.engine->evaluate(images).loss_sum));
    });
    return all;
  }
  static OnednnEngineOptions options(const std::string_view convolutions) {
    return {.images = kSmallImages, .batch = kSmallBatch, .convolutions = convolutions};
  }
  std::filesystem::path file() const { return folder_.path() / "lockstep" / "convolutions.json"; }

  static bool has_winograd() { return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core; }

  testing::TemporaryFolder folder_;
  const testing::EnvironmentVariable cache_{"XDG_CACHE_HOME", folder_.path().string()};
};

TEST_F(OnednnAuto, AgreesWithTorch) {
  run_threads(1, [&](const Group& group) {
    BoundEngine bound(group, make_onednn_engine(make_small_model(), options("auto")));
    nn::Sequential torch = make_small_model();
    torch->to(torch::kFloat64);
    const data::Batch batch = random_batch(kSmallImages, kSmallBatch);
    const double loss = torch_loss(torch, batch, kSmallImages, true);
    EXPECT_NEAR(bound.train(batch).loss_sum, loss, 1e-4 * loss);
    for (std::size_t i = 0; i < torch->parameters().size(); ++i)
      EXPECT_LT(relative_error(bound.plain_gradient(i), torch->parameters()[i].grad()), 1e-4) << i;
  });
  EXPECT_EQ(std::filesystem::exists(file()), has_winograd());
}

TEST_F(OnednnAuto, UsesTheGivenMethodsForEveryBatch) {
  for (const char* method : {"direct", "winograd"}) {
    OnednnEngineOptions given = options("auto");
    for (const char* layer : {"0", "1"})
      for (const char* pass : {"forward", "backward_data", "backward_weights"})
        given.methods[layer][pass] = method;
    ASSERT_TRUE(are_convolution_methods(given.methods));
    // The rule chooses Winograd for all passes of such a layer.
    const OnednnEngineOptions same = options(method == std::string("direct") ? "direct" : "fixed");
    for (std::size_t batch : {kSmallBatch, kSmallBatch - 1, kSmallBatch + 3})
      EXPECT_EQ(results(given, batch), results(same, batch)) << method << ", batch " << batch;
  }
  EXPECT_FALSE(std::filesystem::exists(file())) << "nothing was to be measured";
  if (has_winograd()) {
    EXPECT_NE(results(options("direct"), kSmallBatch), results(options("fixed"), kSmallBatch));
  }
}

TEST_F(OnednnAuto, IsChosenOnlyForEnginesThatChoose) {
  EngineOptions asked{.engine = "onednn", .convolutions = "auto", .images = {1, 32, 32}};
  EXPECT_TRUE(are_convolution_methods(choose_convolutions(asked, {})));
  asked.engine = "torch";
  EXPECT_TRUE(choose_convolutions(asked, {}).is_null());
  asked.engine = "auto";
  asked.type = DataType::float64;
  EXPECT_TRUE(choose_convolutions(asked, {}).is_null());
  asked.type = DataType::float32;
  asked.convolutions = "fixed";
  EXPECT_TRUE(choose_convolutions(asked, {}).is_null());
}

}  // namespace
}  // namespace lockstep::internal::engine
