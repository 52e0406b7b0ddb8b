// The onednn engine fulfils the contract of Engine.
#include <lockstep/error.h>

#include "engine/make_engine.h"
#include "engine/onednn_support.h"
#include "engine/torch/torch_engine.h"
#include "models/model_names.h"
#include "support/errors.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace lockstep::internal::engine {
namespace {

constexpr data::ImageShape kLenet5Images{1, 32, 32};

std::unique_ptr<Engine> make_lenet5(std::uint64_t seed = 1) {
  return make_onednn_engine({.images = kLenet5Images, .seed = seed, .batch = 4});
}

std::unique_ptr<Engine> make_vgg11(std::uint64_t seed = 1) {
  return make_onednn_engine(
      {.model = "vgg11", .images = models::images_of("vgg11"), .seed = seed, .batch = 2});
}

std::vector<float> all_gradients(const BoundEngine& bound) {
  std::vector<float> all;
  for (std::size_t i = 0; i < bound.engine->parameters().size(); ++i) {
    const std::span<float> one = bound.gradient(i);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

TEST(OnednnEngine, BeginsWithTheWeightsOfTheTorchEngine) {
  const auto torch =
      make_torch_engine({.model = "vgg11", .images = models::images_of("vgg11"), .seed = 5});
  const auto ours = make_vgg11(5);
  EXPECT_EQ(ours->parameter_state(), torch->parameter_state());
  EXPECT_EQ(ours->buffer_state(), torch->buffer_state());
  EXPECT_NE(ours->parameter_state(), make_vgg11(6)->parameter_state());
}

TEST(OnednnEngine, GradientsAreTheSlopesOfTheLoss) {
  constexpr float kStep = 1e-2f;
  run_threads(1, [&](const Group& group) {
    BoundEngine bound(group, make_lenet5());
    const data::Batch batch = random_batch(kLenet5Images, 4);
    for (std::size_t i = 0; i < bound.engine->parameters().size(); ++i) {
      bound.train(batch);
      const std::vector<float> gradient(bound.gradient(i).begin(), bound.gradient(i).end());
      const std::span<float> weights = bound.weights(i);
      const std::vector<float> kept(weights.begin(), weights.end());
      const double norm =
          std::sqrt(std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0));
      auto loss_at = [&](float distance) {
        for (std::size_t j = 0; j < kept.size(); ++j)
          weights[j] = kept[j] + distance * gradient[j] / static_cast<float>(norm);
        return bound.engine->forward(batch).loss_sum / 4;
      };
      const double slope = (loss_at(kStep) - loss_at(-kStep)) / (2.0 * kStep);
      std::ranges::copy(kept, weights.begin());
      EXPECT_NEAR(norm, slope, 2e-3 * norm + 1e-4) << bound.engine->parameters()[i].name;
    }
  });
}

TEST(OnednnEngine, TheFactorScalesGradientsAndEachBackwardReplacesThem) {
  run_threads(1, [](const Group& group) {
    BoundEngine bound(group, make_lenet5());
    const data::Batch batch = random_batch(kLenet5Images, 4);
    auto gradients_for = [&](double factor) {
      bound.train(batch, factor);
      return all_gradients(bound);
    };
    const std::vector<float> whole = gradients_for(1);
    const std::vector<float> quarter = gradients_for(0.25);
    ASSERT_GT(*std::ranges::max_element(whole), 1e-3f);
    // A power of two, so that rounding is the same.
    for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_EQ(quarter[i], 0.25f * whole[i]) << i;
    EXPECT_EQ(gradients_for(1), whole);
  });
}

TEST(OnednnEngine, ReportsEveryParameterOnceLastLayerFirst) {
  run_threads(1, [](const Group& group) {
    BoundEngine bound(group, make_lenet5());
    std::vector<std::size_t> all(bound.engine->parameters().size());
    std::iota(all.begin(), all.end(), 0u);
    for (std::size_t images : {4u, 0u, 2u}) {
      bound.ready.clear();
      bound.train(random_batch(kLenet5Images, images));
      EXPECT_GE(bound.ready.front(), all.size() - 2);
      EXPECT_LT(bound.ready.back(), 2u);
      std::ranges::sort(bound.ready);
      EXPECT_EQ(bound.ready, all) << images << " images";
    }
  });
}

TEST(OnednnEngine, DoesNotChangeReadyGradients) {
  const data::Batch batch = random_batch(models::images_of("vgg11"), 2);
  run_threads(1, [&](Group group) {
    auto engine = make_vgg11();
    const sync::Gradients gradients(group, engine->parameters(),
                                    sync::Layout(engine->parameters(), DataType::float32));
    const Memory weights = group.allocate(gradients.layout().bytes());
    std::vector<std::vector<std::byte>> seen(engine->parameters().size());
    auto bytes_of = [&](std::size_t i) {
      const auto* data = static_cast<const std::byte*>(gradients.of(i).data);
      return std::vector<std::byte>(data, data + gradients.of(i).bytes());
    };
    engine->bind(ArrayView(weights.as<float>()).slice(0, gradients.layout().size()), gradients,
                 [&](std::size_t i) { seen[i] = bytes_of(i); });
    engine->forward(batch);
    engine->backward(1);
    for (std::size_t i = 0; i < seen.size(); ++i)
      EXPECT_EQ(seen[i], bytes_of(i)) << engine->parameters()[i].name;
    engine.reset();
  });
}

TEST(OnednnEngine, AnEmptyBatchHasNoLossAndZeroGradients) {
  run_threads(1, [](const Group& group) {
    BoundEngine bound(group, make_lenet5());
    bound.train(random_batch(kLenet5Images, 4));
    for (const Score& score : {bound.engine->evaluate({}), bound.engine->forward({})}) {
      EXPECT_EQ(score.loss_sum, 0);
      EXPECT_EQ(score.samples, 0u);
    }
    bound.engine->backward(1);
    for (float gradient : all_gradients(bound)) ASSERT_EQ(gradient, 0);
  });
}

TEST(OnednnEngine, CountsCorrectImages) {
  const auto engine = make_lenet5();
  data::Batch image = random_batch(kLenet5Images, 1);
  std::size_t correct = 0;
  for (image.labels[0] = 0; image.labels[0] < 10; ++image.labels[0])
    correct += engine->evaluate(image).correct;
  EXPECT_EQ(correct, 1u);
}

TEST(OnednnEngine, EvaluatesByItsRunningStatisticsWithoutChangingThem) {
  const auto engine = make_vgg11();
  const data::Batch batch = random_batch(models::images_of("vgg11"), 2);
  const double trained = engine->forward(batch).loss_sum;
  const auto buffers = engine->buffer_state();
  const double evaluated = engine->evaluate(batch).loss_sum;
  EXPECT_EQ(engine->evaluate(batch).loss_sum, evaluated);
  EXPECT_EQ(engine->buffer_state(), buffers);
  for (const ArrayView& values : engine->running_statistics())
    for (float& value : std::span(static_cast<float*>(values.data), values.count)) value += 1;
  EXPECT_NE(engine->evaluate(batch).loss_sum, evaluated);
  EXPECT_EQ(engine->forward(batch).loss_sum, trained) << "training must not use them";
}

/// Compares every bit, with values that rounding would change.
TEST(OnednnEngine, StateIsSavedAndLoadedToTheBit) {
  run_threads(1, [](const Group& group) {
    BoundEngine bound(group, make_vgg11(1));
    const auto mine = bound.engine->parameter_state();
    std::vector<models::StoredTensor> other = make_vgg11(2)->parameter_state();
    for (auto& buffer : make_vgg11(2)->buffer_state()) other.push_back(std::move(buffer));
    const float odd = std::nextafter(1.0f, 2.0f);
    std::memcpy(other[0].data.data() + 4, &odd, sizeof odd);
    bound.engine->load(other, "other");
    auto loaded = bound.engine->parameter_state();
    EXPECT_NE(loaded, mine);
    for (auto& buffer : bound.engine->buffer_state()) loaded.push_back(std::move(buffer));
    EXPECT_EQ(loaded, other);
    const std::vector<float> flat(bound.weights(0).begin(), bound.weights(0).end());
    bound.engine->load(loaded, "itself");
    EXPECT_TRUE(std::ranges::equal(bound.weights(0), flat));
  });
}

TEST(OnednnEngine, OptimizerValuesAreConvertedAndBack) {
  run_threads(1, [](const Group& group) {
    BoundEngine bound(group, make_vgg11());
    bound.train(random_batch(models::images_of("vgg11"), 2));
    for (std::size_t i = 0; i < bound.engine->parameters().size(); ++i) {
      const std::vector<float> before(bound.gradient(i).begin(), bound.gradient(i).end());
      const std::vector<std::byte> plain = bound.engine->to_plain(i, bound.gradients.of(i));
      std::ranges::fill(bound.gradient(i), 0.0f);
      EXPECT_TRUE(bound.engine->from_plain(i, plain, bound.gradients.of(i)));
      EXPECT_TRUE(std::ranges::equal(bound.gradient(i), before));
      EXPECT_FALSE(bound.engine->from_plain(i, std::span(plain).subspan(4), bound.gradients.of(i)));
    }
  });
}

/// The padding in a parameter's slot.
std::vector<float> padding_of(const BoundEngine& bound, std::size_t i, std::span<float> values) {
  std::vector<float> marked(values.size());
  const std::vector<std::byte> plain = bound.engine->to_plain(i, ArrayView(values));
  std::vector<float> ones(plain.size() / sizeof(float), 1.0f);
  bound.engine->from_plain(i, std::as_bytes(std::span(ones)), ArrayView(std::span(marked)));
  std::vector<float> padding;
  for (std::size_t j = 0; j < marked.size(); ++j)
    if (marked[j] == 0) padding.push_back(values[j]);
  return padding;
}

TEST(OnednnEngine, PaddingStaysZero) {
  run_threads(1, [](const Group& group) {
    BoundEngine bound(group, make_lenet5());
    for (int step = 0; step < 3; ++step) {
      bound.train(random_batch(kLenet5Images, 4));
      for (std::size_t i = 0; i < bound.engine->parameters().size(); ++i) {
        for (std::size_t j = 0; j < bound.weights(i).size(); ++j)
          bound.weights(i)[j] -= 0.1f * bound.gradient(i)[j];
        for (const std::span<float>& values : {bound.weights(i), bound.gradient(i)})
          for (float value : padding_of(bound, i, values)) ASSERT_EQ(value, 0);
      }
    }
  });
}

TEST(OnednnEngine, NamesTheTensorThatDoesNotFit) {
  auto state = make_lenet5()->parameter_state();
  state[2].name = "features.99.weight";
  testing::expect_error<Error>([&] { make_lenet5()->load(state, "w.safetensors"); },
                               {"w.safetensors: tensor features.3.weight is missing"});
}

TEST(OnednnEngine, WritesItsStepsToATrace) {
  const auto engine = make_lenet5();
  observe::Trace trace;
  engine->record_in(&trace);
  const data::Batch batch = random_batch(kLenet5Images, 4);
  engine->forward(batch);
  engine->record_in(nullptr);
  engine->forward(batch);
  const auto events = trace.events();
  auto named = [&](std::string_view name) {
    return std::ranges::count(events, name, &observe::TraceEvent::name);
  };
  EXPECT_EQ(named("features.0 forward"), 1);
  EXPECT_EQ(named("loss forward"), 1);
}

TEST(OnednnEngine, IsChosenByAutoIfSupported) {
  const MadeEngine fast = make_engine({.engine = "auto", .images = kLenet5Images});
  EXPECT_EQ(fast.engine->name(), "onednn");
  EXPECT_EQ(fast.notice, "");
  const MadeEngine exact =
      make_engine({.engine = "auto", .type = DataType::float64, .images = kLenet5Images});
  EXPECT_EQ(exact.engine->name(), "torch");
  EXPECT_NE(exact.notice.find("float32 only"), std::string::npos) << exact.notice;
  EXPECT_EQ(make_engine({.engine = "torch", .images = kLenet5Images}).engine->name(), "torch");
  testing::expect_error<UsageError>(
      [] { make_engine({.engine = "onednn", .type = DataType::float64, .images = kLenet5Images}); },
      {"float32 only", "--engine torch"});
}

}  // namespace
}  // namespace lockstep::internal::engine
