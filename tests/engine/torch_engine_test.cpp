// The torch engine computes the gradients of its loss, in the given memory.
#include "engine/torch/torch_engine.h"

#include <lockstep/error.h>

#include "base/random.h"
#include "engine/random_batch.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace lockstep::internal::engine {
namespace {

constexpr data::ImageShape kImages{1, 32, 32};

std::unique_ptr<Engine> make_lenet5(std::uint64_t seed) {
  return make_torch_engine(
      {.model = "lenet5", .type = DataType::float64, .images = kImages, .seed = seed});
}

data::Batch random_batch(std::size_t size) {
  return engine::random_batch(kImages, size);
}

data::Batch image_of(const data::Batch& batch, std::size_t i) {
  const auto begin = batch.pixels.begin() + static_cast<std::ptrdiff_t>(i * kImages.pixels());
  return {{begin, begin + static_cast<std::ptrdiff_t>(kImages.pixels())}, {batch.labels[i]}};
}

/// LeNet-5 in float64 with its weights and gradients in flat memory, and the parameters reported
/// ready.
struct Bound {
  explicit Bound(Group group, std::uint64_t seed = 1)
      : engine(make_lenet5(seed)),
        gradients(group, engine->parameters(),
                  sync::Layout(engine->parameters(), DataType::float64)),
        memory(group.allocate(gradients.layout().bytes())) {
    before = engine->parameter_state();
    engine->bind(ArrayView(memory.as<double>()).slice(0, gradients.layout().size()), gradients,
                 [this](std::size_t i) { ready.push_back(i); });
  }
  ~Bound() { engine.reset(); }  // before the memory it writes into
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  std::span<double> weights(std::size_t parameter) const {
    const sync::Slot& slot = gradients.layout().slots()[parameter];
    return memory.as<double>().subspan(slot.begin, slot.count);
  }
  std::vector<double> gradient(std::size_t parameter) const {
    const ArrayView view = gradients.of(parameter);
    const auto* values = static_cast<const double*>(view.data);
    return {values, values + view.count};
  }
  std::vector<double> all_gradients() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < engine->parameters().size(); ++i) {
      const std::vector<double> one = gradient(i);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  double mean_loss(const data::Batch& batch) const {
    const Score score = engine->forward(batch);
    return score.loss_sum / static_cast<double>(score.samples);
  }

  std::unique_ptr<Engine> engine;
  sync::Gradients gradients;
  Memory memory;
  std::vector<std::size_t> ready;
  std::vector<models::StoredTensor> before;  ///< parameter_state() before bind()
};

void expect_weights_are(const Bound& bound, const std::vector<models::StoredTensor>& state) {
  for (std::size_t i = 0; i < state.size(); ++i) {
    const std::span<double> weights = bound.weights(i);
    ASSERT_EQ(weights.size_bytes(), state[i].data.size()) << state[i].name;
    EXPECT_EQ(std::memcmp(weights.data(), state[i].data.data(), weights.size_bytes()), 0)
        << state[i].name;
  }
}

TEST(TorchEngine, GradientsAreTheDifferenceQuotientsOfTheLoss) {
  constexpr double kStep = 1e-5;
  run_threads(1, [](const Group& group) {
    Bound bound(group);
    const data::Batch batch = random_batch(3);
    bound.engine->forward(batch);
    bound.engine->backward(1);
    Random random(11);
    for (std::size_t parameter = 0; parameter < bound.engine->parameters().size(); ++parameter) {
      const std::vector<double> gradient = bound.gradient(parameter);
      for (int sample = 0; sample < 4; ++sample) {
        const std::size_t i = random.below(gradient.size());
        double& weight = bound.weights(parameter)[i];
        const double kept = weight;
        weight = kept + kStep;
        const double above = bound.mean_loss(batch);
        weight = kept - kStep;
        const double below = bound.mean_loss(batch);
        weight = kept;
        // Rounding of the losses makes the quotient uncertain by about 1e-10.
        EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep),
                    1e-6 * std::max(1e-3, std::abs(gradient[i])))
            << bound.engine->parameters()[parameter].name << "[" << i << "]";
      }
    }
  });
}

TEST(TorchEngine, TheFactorScalesGradientsAndEachBackwardReplacesThem) {
  run_threads(1, [](const Group& group) {
    Bound bound(group);
    const data::Batch batch = random_batch(3);
    auto gradients_for = [&](double factor) {
      bound.engine->forward(batch);
      bound.engine->backward(factor);
      return bound.all_gradients();
    };
    const std::vector<double> whole = gradients_for(1);
    const std::vector<double> quarter = gradients_for(0.25);
    ASSERT_GT(*std::ranges::max_element(whole), 1e-3);
    // A power of two, so that rounding is the same.
    for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_EQ(quarter[i], 0.25 * whole[i]) << i;
    EXPECT_EQ(gradients_for(1), whole);
  });
}

TEST(TorchEngine, ReportsEveryParameterOncePerBackward) {
  run_threads(1, [](const Group& group) {
    Bound bound(group);
    std::vector<std::size_t> all(bound.engine->parameters().size());
    std::iota(all.begin(), all.end(), 0u);
    for (std::size_t images : {3u, 0u, 2u}) {
      bound.ready.clear();
      const data::Batch batch = random_batch(images);
      bound.engine->forward(batch);
      bound.engine->backward(1);
      EXPECT_GE(bound.ready.front(), all.size() - 2) << "the last layer comes first";
      std::ranges::sort(bound.ready);
      EXPECT_EQ(bound.ready, all) << images << " images";
    }
  });
}

TEST(TorchEngine, AnEmptyBatchHasNoLossAndZeroGradients) {
  run_threads(1, [](const Group& group) {
    Bound bound(group);
    const data::Batch batch = random_batch(3);
    bound.engine->forward(batch);
    bound.engine->backward(1);
    for (const Score& score : {bound.engine->forward({}), bound.engine->evaluate({})}) {
      EXPECT_EQ(score.loss_sum, 0);
      EXPECT_EQ(score.correct, 0u);
      EXPECT_EQ(score.samples, 0u);
    }
    bound.engine->backward(1);
    for (double gradient : bound.all_gradients()) ASSERT_EQ(gradient, 0);
  });
}

TEST(TorchEngine, ScoresOfImagesAddUpToThatOfTheirBatch) {
  run_threads(1, [](const Group& group) {
    Bound bound(group);
    const data::Batch batch = random_batch(5);
    Score sum;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Score one = bound.engine->forward(image_of(batch, i));
      EXPECT_EQ(one.samples, 1u);
      sum.loss_sum += one.loss_sum;
      sum.correct += one.correct;
      sum.samples += one.samples;
    }
    const Score whole = bound.engine->forward(batch);
    EXPECT_NEAR(whole.loss_sum, sum.loss_sum, 1e-12 * sum.loss_sum);
    EXPECT_EQ(whole.correct, sum.correct);
    EXPECT_EQ(whole.samples, 5u);
  });
}

TEST(TorchEngine, CountsCorrectImages) {
  // Each image is correct for exactly one of the ten labels.
  const auto engine = make_lenet5(1);
  data::Batch image = random_batch(1);
  std::size_t correct = 0;
  for (image.labels[0] = 0; image.labels[0] < 10; ++image.labels[0])
    correct += engine->evaluate(image).correct;
  EXPECT_EQ(correct, 1u);
}

TEST(TorchEngine, EvaluatesLeNet5AsInTraining) {
  const auto engine = make_lenet5(1);
  const data::Batch batch = random_batch(4);
  const Score trained = engine->forward(batch);
  const Score evaluated = engine->evaluate(batch);
  EXPECT_EQ(evaluated.loss_sum, trained.loss_sum);
  EXPECT_EQ(evaluated.correct, trained.correct);
  EXPECT_EQ(evaluated.samples, trained.samples);
}

TEST(TorchEngine, BindingKeepsTheWeights) {
  run_threads(1, [](const Group& group) {
    Bound bound(group);
    EXPECT_EQ(bound.engine->parameter_state(), bound.before);
    expect_weights_are(bound, bound.before);
  });
}

TEST(TorchEngine, LoadingWritesThroughIntoTheFlatWeights) {
  const std::vector<models::StoredTensor> other = make_lenet5(2)->parameter_state();
  run_threads(1, [&](const Group& group) {
    Bound bound(group, 1);
    ASSERT_NE(bound.before, other);
    bound.engine->load(other, "other");
    EXPECT_EQ(bound.engine->parameter_state(), other);
    expect_weights_are(bound, other);
  });
}

TEST(TorchEngine, UsesTheFlatWeights) {
  run_threads(1, [](const Group& group) {
    Bound bound(group);
    std::ranges::fill(bound.memory.as<double>(), 0);
    // Ten equal scores.
    EXPECT_NEAR(bound.mean_loss(random_batch(2)), std::log(10.0), 1e-12);
  });
}

TEST(TorchEngine, NamesTheTensorThatDoesNotFit) {
  auto state = make_lenet5(1)->parameter_state();
  state[2].name = "features.99.weight";
  testing::expect_error<Error>([&] { make_lenet5(1)->load(state, "w.safetensors"); },
                               {"w.safetensors: tensor features.3.weight is missing"});
}

TEST(TorchEngine, SeedsDetermineTheInitialWeights) {
  EXPECT_EQ(make_lenet5(1)->parameter_state(), make_lenet5(1)->parameter_state());
  EXPECT_NE(make_lenet5(1)->parameter_state(), make_lenet5(2)->parameter_state());
}

}  // namespace
}  // namespace lockstep::internal::engine
