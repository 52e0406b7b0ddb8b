// Compares optimizers with PyTorch's, and LARS and LAMB with their definitions. The reference
// numbers come from tests/reference/optimizers.py.
#include "optim/optimizers.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/random.h"
#include "optim/clipping.h"
#include "support/errors.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace lockstep::internal::optim {
namespace {

using Json = nlohmann::json;

const Json& reference() {
  static const Json json =
      Json::parse(read_file(LOCKSTEP_TEST_SOURCE "/tests/reference/optimizers.json"));
  return json;
}

/// Number of unused elements before each tensor but the first.
constexpr std::size_t kGap = 2;

std::vector<TensorRange> tensors_of(const Json& optimizer_case) {
  std::vector<TensorRange> tensors;
  std::size_t begin = 0;
  for (const Json& count : reference().at("tensors")) {
    const bool decayed = tensors.size() != 1 || !optimizer_case.value("no_decay", false);
    tensors.push_back({begin, count.get<std::size_t>(), decayed});
    begin += count.get<std::size_t>() + kGap;
  }
  return tensors;
}

/// An array with these values in the tensors, and zeros between them.
template <typename T>
std::vector<T> spread(const std::vector<double>& values, const std::vector<TensorRange>& tensors) {
  std::vector<T> array(tensors.back().begin + tensors.back().count);
  std::size_t next = 0;
  for (const TensorRange& tensor : tensors)
    for (std::size_t i = 0; i < tensor.count; ++i)
      array[tensor.begin + i] = static_cast<T>(values[next++]);
  return array;
}

std::vector<double> formula_values(std::uint64_t seed, std::size_t count, double scale = 1) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < count; ++i)
    values.push_back(scale * (2 * Random((seed << 32) + i).uniform() - 1));
  return values;
}

OptimizerOptions options_of(const Json& optimizer_case) {
  const OptimizerOptions usual;
  return {.name = optimizer_case.at("optimizer"),
          .learning_rate = optimizer_case.at("lr"),
          .weight_decay = optimizer_case.value("weight_decay", 0.0),
          .momentum = optimizer_case.value("momentum", 0.0),
          .nesterov = optimizer_case.value("nesterov", false),
          .beta1 = optimizer_case.value("beta1", usual.beta1),
          .beta2 = optimizer_case.value("beta2", usual.beta2),
          .epsilon = usual.epsilon,
          .trust = optimizer_case.value("trust", usual.trust)};
}

/// Runs one case: applies the script's gradients to the weights. If the optimizer allows it, each
/// step is made in parts of `part` elements.
template <typename T>
class Walk {
 public:
  explicit Walk(const Json& optimizer_case, std::size_t part = 1000)
      : case_(optimizer_case),
        tensors_(tensors_of(optimizer_case)),
        weights_(spread<T>(formula_values(0, kCount), tensors_)),
        gradients_(weights_.size()),
        optimizer_(make_optimizer<T>({weights_, gradients_, tensors_}, options_of(optimizer_case))),
        part_(optimizer_->elementwise() ? part : weights_.size()) {}

  void step() {
    const std::uint64_t number = optimizer_->steps() + 1;
    const double scale = number % 5 == 0 ? 10 : 1;
    const std::vector<T> slopes = spread<T>(formula_values(number, kCount, scale), tensors_);
    std::copy(slopes.begin(), slopes.end(), gradients_.begin());
    if (case_.contains("clip")) clip_norm<T>(gradients_, tensors_, case_.at("clip"));
    if (case_.contains("clip_value")) clip_values<T>(gradients_, case_.at("clip_value"));
    if (case_.value("falling", false))
      optimizer_->set_learning_rate(case_.at("lr").get<double>() / static_cast<double>(number));
    optimizer_->begin_step();
    for (std::size_t begin = 0; begin < weights_.size(); begin += part_)
      optimizer_->step(begin, std::min(part_, weights_.size() - begin));
  }

  /// The largest difference of a weight from its reference.
  double distance_from(const std::string& moment) const {
    const std::vector<double> expected = spread<double>(case_.at(moment), tensors_);
    double most = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
      most = std::max(most, std::abs(static_cast<double>(weights_[i]) - expected[i]));
    return most;
  }

  const std::vector<T>& weights() const { return weights_; }
  Optimizer& optimizer() { return *optimizer_; }

 private:
  static constexpr std::size_t kCount = 24;

  const Json& case_;
  const std::vector<TensorRange> tensors_;
  std::vector<T> weights_, gradients_;
  std::unique_ptr<Optimizer> optimizer_;
  const std::size_t part_;
};

class Reference : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Json& case_ = reference().at("cases").at(GetParam());
};

TEST_P(Reference, IsMetInFloat64) {
  Walk<double> walk(case_);
  walk.step();
  EXPECT_LT(walk.distance_from("after_one"), 1e-6) << case_;
  for (int step = 1; step < 20; ++step) walk.step();
  EXPECT_LT(walk.distance_from("after_all"), case_.contains("clip") ? 1e-5 : 1e-12) << case_;
}

TEST_P(Reference, IsMetInFloat32) {
  Walk<float> walk(case_);
  for (int step = 0; step < 20; ++step) walk.step();
  EXPECT_LT(walk.distance_from("after_all"), 1e-5) << case_;
}

TEST_P(Reference, IsMetInPartsToTheBit) {
  Walk<float> whole(case_), parts(case_, 5);
  for (int step = 0; step < 20; ++step) {
    whole.step();
    parts.step();
  }
  EXPECT_EQ(parts.weights(), whole.weights());
}

TEST_P(Reference, IsMetAfterRestoringTheState) {
  Walk<float> whole(case_), first(case_), second(case_);
  for (int step = 0; step < 7; ++step) {
    whole.step();
    first.step();
    second.step();
  }
  // The second starts with an empty state and restores that of the first.
  second.optimizer().set_steps(0);
  const auto saved = first.optimizer().state();
  const auto restored = second.optimizer().state();
  ASSERT_EQ(saved.size(), restored.size());
  for (std::size_t i = 0; i < saved.size(); ++i) {
    EXPECT_EQ(saved[i].name, restored[i].name);
    std::memset(restored[i].values.data, 0, restored[i].values.bytes());
    std::memcpy(restored[i].values.data, saved[i].values.data, saved[i].values.bytes());
  }
  second.optimizer().set_steps(first.optimizer().steps());
  for (int step = 7; step < 20; ++step) {
    whole.step();
    second.step();
  }
  EXPECT_EQ(second.weights(), whole.weights());
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Reference, ::testing::Range<std::size_t>(0, 14),
                         [](const auto& info) {
                           const std::string name =
                               reference().at("cases").at(info.param).at("optimizer");
                           return name + std::to_string(info.param);
                         });

TEST(Optimizers, AllCasesOfTheReferenceAreTried) {
  EXPECT_EQ(reference().at("cases").size(), 14u);
}

TEST(Optimizers, ThatNeedWholeTensorsRefuseParts) {
  for (const std::string& name : optimizer_names()) {
    std::vector<float> weights(8, 1), gradients(8, 1);
    const auto optimizer = make_optimizer<float>({weights, gradients, {{0, 3, true}, {4, 4, true}}},
                                                 {.name = name, .momentum = 0.9});
    optimizer->begin_step();
    const bool layerwise = name == "lars" || name == "lamb";
    EXPECT_EQ(optimizer->elementwise(), !layerwise) << name;
    optimizer->step(3, 5);  // a gap and a whole tensor
    EXPECT_EQ(weights[0], 1);
    EXPECT_NE(weights[7], 1);
    if (layerwise) {
      EXPECT_THROW(optimizer->step(0, 2), InternalError);
    }
    EXPECT_THROW(optimizer->step(4, 5), InternalError);
  }
}

TEST(Optimizers, ThatCountStepsRequireBeginStep) {
  std::vector<float> weights(2), gradients(2);
  for (const char* name : {"adam", "adamw", "lamb"})
    EXPECT_THROW(make_optimizer<float>({weights, gradients}, {.name = name})->step(0, 2),
                 InternalError);
}

TEST(Optimizers, GiveTheSameBitsWithOneThreadAsWithMany) {
  constexpr std::size_t kCount = 600'011;
  std::vector<float> start(kCount), gradients(kCount);
  Random random(5);
  for (auto* array : {&start, &gradients})
    for (float& value : *array) value = static_cast<float>(2 * random.uniform() - 1);
  for (const char* name : {"adam", "adamw"}) {
    auto train = [&](std::size_t part) {
      std::vector<float> weights = start;
      const auto optimizer =
          make_optimizer<float>({weights, gradients}, {.name = name, .weight_decay = 0.1});
      for (int step = 0; step < 3; ++step) {
        optimizer->begin_step();
        for (std::size_t begin = 0; begin < kCount; begin += part)
          optimizer->step(begin, std::min(part, kCount - begin));
      }
      return weights;
    };
    EXPECT_EQ(train(kCount), train(10'000)) << name;  // the latter run on one thread
  }
}

TEST(Optimizers, LarsWithARatioOfOneEqualsSgd) {
  std::vector<double> one{1, 2, 3}, other = one;
  const std::vector<double> gradients{1, -2, 0.5};
  const std::vector<TensorRange> spared{{0, 3, false}};
  const auto lars =
      make_optimizer<double>({one, gradients, spared}, {.name = "lars", .momentum = 0.5});
  const auto sgd = make_optimizer<double>({other, gradients}, {.name = "sgd", .momentum = 0.5});
  for (int step = 0; step < 5; ++step) {
    lars->step(0, 3);
    sgd->step(0, 3);
  }
  EXPECT_EQ(one, other);
}

TEST(Optimizers, WeightsOrGradientsOfZeroStayFinite) {
  for (const char* name : {"lars", "lamb"}) {
    std::vector<float> weights{0, 0, 1, 1};
    const std::vector<float> gradients{1, 1, 0, 0};
    const auto optimizer =
        make_optimizer<float>({weights, gradients, {{0, 2}, {2, 2}}}, {.name = name});
    optimizer->begin_step();
    optimizer->step(0, 4);
    EXPECT_NEAR(weights[0], -0.01, 1e-6) << name;
    EXPECT_EQ(weights[2], 1) << name;
  }
}

TEST(Optimizers, InvalidOptionsAreRefusedWithTheRange) {
  auto expect_refusal = [](OptimizerOptions options, std::string_view words) {
    std::vector<float> weights(1);
    testing::expect_error<UsageError>(
        [&] {
          make_optimizer<float>({weights, weights}, options);
        },
        {words});
  };
  expect_refusal({.name = "adamax"}, "sgd, adam, adamw, lars and lamb");
  expect_refusal({.name = "adam", .learning_rate = -1}, "it must be 0 or more");
  expect_refusal({.name = "adamw", .weight_decay = -1}, "it must be 0 or more");
  expect_refusal({.name = "lars", .momentum = 1}, "it must be from 0 to below 1");
  expect_refusal({.name = "lars", .nesterov = true}, "needs a momentum above 0");
  expect_refusal({.name = "lamb", .beta1 = 1}, "the beta1 is 1: it must be from 0 to");
  expect_refusal({.name = "adam", .beta2 = -0.1}, "beta2");
  expect_refusal({.name = "lamb", .epsilon = 0}, "it must be more than 0");
  expect_refusal({.name = "lars", .trust = 0}, "it must be more than 0");
}

TEST(Clipping, ByNormIsExactForAnyTensorOrder) {
  // 3, 4 and 12 make 13.
  std::vector<double> gradients{3, 0, 0, 4, 12};
  const std::vector<TensorRange> tensors{{3, 2}, {0, 1}};
  EXPECT_EQ(clip_norm<double>(gradients, tensors, 13), 13);
  EXPECT_EQ(gradients, (std::vector<double>{3, 0, 0, 4, 12}));
  EXPECT_EQ(clip_norm<double>(gradients, tensors, 6.5), 13);
  EXPECT_EQ(gradients, (std::vector<double>{1.5, 0, 0, 2, 6}));
}

TEST(Clipping, AddsManySmallValuesUpWithoutLosingThem) {
  // A million times 1e-4 after one value of 100: in float their squares would vanish.
  constexpr std::size_t kCount = 1'000'001;
  std::vector<float> gradients(kCount, 1e-4f);
  gradients[0] = 100;
  const std::vector<TensorRange> tensors{{0, kCount}};
  const double small = static_cast<double>(1e-4f) * static_cast<double>(1e-4f) * 1e6;
  const double norm = global_norm<float>(gradients, tensors);
  EXPECT_NEAR(norm * norm - 1e4, small, small * 1e-4);
}

TEST(Clipping, ByValueKeepsNan) {
  std::vector<float> gradients{-3, 0.5, 3, std::nanf("")};
  clip_values<float>(gradients, 1);
  EXPECT_EQ(gradients[0], -1);
  EXPECT_EQ(gradients[1], 0.5);
  EXPECT_EQ(gradients[2], 1);
  EXPECT_TRUE(std::isnan(gradients[3]));
}

}  // namespace
}  // namespace lockstep::internal::optim
