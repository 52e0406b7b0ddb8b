// Plans: memory, layouts, and the description of torch modules.
#include <lockstep/error.h>

#include "engine/onednn/describe.h"
#include "engine/onednn/layers/plan_graph.h"
#include "engine/onednn/plan/arena.h"
#include "models/model.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lockstep::internal::engine::onednn {
namespace {

namespace nn = torch::nn;

TEST(OnednnArena, OnlyBuffersInUseTogetherAreApart) {
  Arena arena;
  struct Use {
    std::size_t bytes, first, last;
  };
  const std::vector<Use> uses{{1000, 0, 5}, {500, 1, 2}, {500, 3, 4}, {3000, 5, 5}, {64, 0, 9}};
  std::size_t sum = 0;
  for (const Use& use : uses) {
    const std::size_t buffer = arena.reserve(use.bytes);
    arena.use(buffer, use.last);
    arena.use(buffer, use.first);
    sum += use.bytes;
  }
  arena.reserve(1 << 20);  // never used
  arena.place();
  for (std::size_t i = 0; i < uses.size(); ++i) {
    EXPECT_EQ(arena.offset(i) % Arena::kAlignment, 0u);
    EXPECT_LE(arena.offset(i) + uses[i].bytes, arena.bytes());
    for (std::size_t j = 0; j < i; ++j) {
      const bool together = uses[i].first <= uses[j].last && uses[j].first <= uses[i].last;
      const bool apart = arena.offset(i) + uses[i].bytes <= arena.offset(j) ||
                         arena.offset(j) + uses[j].bytes <= arena.offset(i);
      EXPECT_TRUE(apart || !together) << i << " and " << j;
    }
  }
  EXPECT_EQ(arena.offset(1), arena.offset(2)) << "they are never in use together";
  EXPECT_LT(arena.bytes(), sum);
}

std::shared_ptr<models::Classifier> model_of(const std::string& name) {
  return models::make_model(name);
}

/// The steps of a model's plan.
std::vector<Step> steps_of(const std::string& name, const ChooseMethods& convolutions) {
  const auto model = model_of(name);
  const LayerGraph graph = fuse_relu(describe(*model));
  Layouts layouts(graph.parameters.size());
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return plan_graph(engine, graph, {16, true, convolutions}, layouts).steps;
}

std::ptrdiff_t count_steps_named(const std::vector<Step>& steps, std::string_view part) {
  return std::ranges::count_if(
      steps, [&](const Step& step) { return step.name.find(part) != std::string::npos; });
}

bool has_avx512() {
  return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core;
}

TEST(OnednnPlan, ReordersNoActivation) {
  if (!has_avx512()) GTEST_SKIP() << "oneDNN's code for older processors takes fewer layouts";
  for (const std::string& model : models::model_names()) {
    const std::vector<Step> steps = steps_of(model, convolution_rule);
    EXPECT_EQ(count_steps_named(steps, "reorder of its input"), 0) << model;
    EXPECT_EQ(count_steps_named(steps, "reorder of its weights for forward"), 0) << model;
    EXPECT_EQ(count_steps_named(steps, "reorder of its weights' gradient"), 0) << model;
  }
}

TEST(OnednnPlan, ReordersWeightsOnlyForDirectBackward) {
  if (!has_avx512()) GTEST_SKIP() << "there is no Winograd";
  // All convolutions but the first, whose input needs no gradient.
  EXPECT_EQ(count_steps_named(steps_of("vgg11", direct_convolutions), "reorder"), 7);
  EXPECT_EQ(count_steps_named(steps_of("vgg11", convolution_rule), "reorder"), 0);
  // The convolutions of stride 2, and their shortcuts.
  EXPECT_EQ(count_steps_named(steps_of("resnet18", convolution_rule), "reorder"), 6);
}

/// The implementations of a layer's passes: forward, to its weights, to its input.
std::vector<std::string> implementations(const std::vector<Step>& steps, std::string_view layer) {
  std::vector<std::string> found;
  for (const Step& step : steps)
    if (step.name.starts_with(layer)) found.push_back(step.implementation);
  return found;
}

TEST(OnednnPlan, UsesOurKernelsOnSmallMaps) {
  if (!has_avx512()) GTEST_SKIP() << "channels lie in blocks of 8";
  const std::vector<std::string> ours(3, "ours");
  const std::vector<Step> steps = steps_of("vgg11", convolution_rule);
  for (const char* layer :
       {"features.11 ", "features.15 ", "features.18 ", "features.22 ", "features.25 "})
    EXPECT_EQ(implementations(steps, layer), ours) << layer;
  EXPECT_EQ(std::ranges::count(implementations(steps, "features.8 "), "ours"), 1)
      << "from 128 channels, on 8×8";
  EXPECT_EQ(std::ranges::count(implementations(steps, "features.4 "), "ours"), 0) << "on 16×16";
}

TEST(OnednnPlan, MayComputeAnyPassOfALayerByProducts) {
  if (!has_avx512()) GTEST_SKIP() << "channels lie in blocks of 8";
  using enum Method;
  for (const Methods methods : {Methods{product, direct, direct}, Methods{direct, product, direct},
                                Methods{winograd, direct, product}}) {
    const std::vector<Step> steps =
        steps_of("vgg11", [&](const ConvolutionShape&) { return methods; });
    EXPECT_EQ(count_steps_named(steps, "features.18 reorder"),
              methods.backward_data == direct ? 1 : 0);
    auto is_ours = [&](std::string_view name) {
      return implementations(steps, name) == std::vector<std::string>{"ours"};
    };
    EXPECT_EQ(is_ours("features.18 forward"), methods.forward == product);
    EXPECT_EQ(is_ours("features.18 backward to its weights"), methods.backward_weights == product);
    EXPECT_EQ(is_ours("features.18 backward to its input"), methods.backward_data == product);
    EXPECT_FALSE(is_ours("features.0 forward")) << "it takes 3 channels";
  }
}

TEST(OnednnPlan, UsesNoSlowPrimitive) {
  for (const char* model : {"lenet5", "vgg11", "resnet18"})
    for (const Step& step : steps_of(model, convolution_rule))
      EXPECT_FALSE(is_slow(step.implementation.c_str()))
          << model << ": " << step.name << " by " << step.implementation;
}

TEST(OnednnPlan, TheFirstLayerComputesNoGradientForTheImages) {
  const std::vector<Step> steps = steps_of("vgg11", convolution_rule);
  EXPECT_EQ(count_steps_named(steps, "features.0 backward to its input"), 0);
  EXPECT_EQ(count_steps_named(steps, "features.0 backward to its weights"), 1);
  EXPECT_EQ(count_steps_named(steps, "features.4 backward to its input"), 1);
}

TEST(OnednnPlan, FusesReluIntoBatchNormAndAdd) {
  const auto model = model_of("resnet18");
  const LayerGraph plain = describe(*model);
  const LayerGraph fused = fuse_relu(plain);
  auto count = [](const LayerGraph& graph, LayerKind kind) {
    return std::ranges::count(graph.layers, kind, &Layer::kind);
  };
  EXPECT_EQ(count(plain, LayerKind::relu), 17);
  EXPECT_EQ(count(fused, LayerKind::relu), 0);
  EXPECT_EQ(count(fused, LayerKind::add), 8);
  EXPECT_EQ(std::ranges::count(fused.layers, true, &Layer::then_relu), 17);
}

TEST(OnednnPlan, DoesNotFuseReluIfOthersUseItsInput) {
  LayerGraph graph;
  graph.layers = {{.kind = LayerKind::batch_norm, .name = "norm", .inputs = {kImages}},
                  {.kind = LayerKind::relu, .name = "relu", .inputs = {0}},
                  {.kind = LayerKind::add, .name = "add", .inputs = {0, 1}}};
  EXPECT_EQ(fuse_relu(graph).layers.size(), 3u);
}

void expect_plan_refused(nn::Sequential model, std::initializer_list<std::string_view> parts) {
  testing::expect_error<UsageError>([&] { describe(model, {3, 8, 8}); }, parts);
}

TEST(OnednnDescription, NamesAnUnsupportedLayer) {
  const nn::Conv2d first(nn::Conv2dOptions(3, 8, 3));
  expect_plan_refused(nn::Sequential(first, nn::Dropout(), nn::Flatten(), nn::Linear(8 * 36, 10)),
                      {"layer 1", "Dropout", "--engine torch"});
  expect_plan_refused(nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 9, 3).groups(3)),
                                     nn::Flatten(), nn::Linear(9 * 36, 10)),
                      {"layer 0", "groups"});
  expect_plan_refused(nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 8, 3).dilation(2)),
                                     nn::Flatten(), nn::Linear(8 * 16, 10)),
                      {"layer 0", "dilated"});
  expect_plan_refused(nn::Sequential(first, nn::MaxPool2d(nn::MaxPool2dOptions(2).ceil_mode(true))),
                      {"layer 1", "rounds"});
  expect_plan_refused(nn::Sequential(first, nn::Linear(6, 10)), {"layer 1", "Flatten"});
  expect_plan_refused(nn::Sequential(first, nn::Flatten(), nn::Linear(7, 10)),
                      {"layer 2", "expects 7 values but gets 288"});
  expect_plan_refused(nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 8, 9))),
                      {"layer 0", "larger"});
  expect_plan_refused(nn::Sequential(first, first, nn::Flatten(), nn::Linear(8 * 36, 10)),
                      {"layer 1", "expects 3 channels but gets 8"});
  expect_plan_refused(nn::Sequential(first, nn::ReLU()), {"last layer is Linear"});
}

TEST(OnednnDescription, RefusesParametersThatAreSharedOrFrozen) {
  const nn::Linear shared(48, 48);
  nn::Sequential twice(nn::Flatten(), shared, shared);
  twice->push_back(nn::Linear(48, 10));
  testing::expect_error<UsageError>(
      [&] {
        describe(twice, {3, 4, 4});
      },
      {"uses 1.weight together with another layer"});
  nn::Sequential frozen(nn::Flatten(), nn::Linear(48, 10));
  frozen->parameters()[0].set_requires_grad(false);
  testing::expect_error<UsageError>([&] { describe(frozen, {3, 4, 4}); }, {"layer 1", "frozen"});
}

}  // namespace
}  // namespace lockstep::internal::engine::onednn
