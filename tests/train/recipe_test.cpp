// Recipes in whole runs: the effect of each option on the weights, and invalid options.
#include "train/config/recipe.h"

#include <lockstep/error.h>

#include "models/safetensors.h"
#include "optim/optimizers.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "train/training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

namespace lockstep::internal::train {
namespace {

class RecipeTest : public ::testing::Test {
 protected:
  RecipeTest() {
    config_.epochs = 0;
    config_.iterations = 9;  // the seventh is a batch of 4
  }

  /// The final weights, in the order of their names.
  std::vector<models::StoredTensor> trained(TrainConfig config) {
    config.save = folder_.path() / "weights.safetensors";
    train_on_threads(config);
    return models::read_safetensors(config.save);
  }

  testing::TemporaryFolder folder_;
  TrainConfig config_ = small_job();
};

TEST_F(RecipeTest, AccumulationEqualsTheWholeBatch) {
  config_.engine = "torch";
  config_.dtype = "float64";
  const auto whole = values_of(trained(config_));
  for (const auto& [workers, parts] : {std::pair{1, 4}, {1, 16}, {2, 3}}) {
    TrainConfig config = config_;
    config.workers = workers;
    config.recipe.accumulate = parts;
    EXPECT_LT(distance(values_of(trained(config)), whole), 1e-12) << workers << ", " << parts;
  }
}

TEST_F(RecipeTest, AccumulationEqualsTheWholeBatchInFloat32) {
  const auto whole = values_of(trained(config_));
  config_.recipe.accumulate = 3;
  EXPECT_LT(distance(values_of(trained(config_)), whole), 1e-5);
}

TEST_F(RecipeTest, ShardsGiveTheSameBitsWithEveryRecipe) {
  config_.shards = 4;
  config_.momentum = 0.9;
  config_.recipe.accumulate = 2;
  config_.recipe.clip = 0.5;
  config_.recipe.label_smoothing = 0.1;
  for (const char* optimizer : {"sgd", "lars"}) {
    config_.recipe.optimizer = optimizer;
    config_.workers = 1;
    const run::Summary alone = train_on_threads(config_);
    config_.workers = 4;
    const run::Summary four = train_on_threads(config_);
    EXPECT_EQ(four.weights_sha256, alone.weights_sha256) << optimizer;
    EXPECT_EQ(four.train_loss, alone.train_loss) << optimizer;
  }
}

TEST_F(RecipeTest, ClippingDoesNotDependOnBuckets) {
  config_.shards = 2;
  config_.workers = 2;
  config_.recipe.clip = 0.5;
  const std::string usual = train_on_threads(config_).weights_sha256;
  config_.first_bucket_mb = config_.bucket_mb = 0.01;
  EXPECT_EQ(train_on_threads(config_).weights_sha256, usual);
  config_.sync = "tree";
  EXPECT_EQ(train_on_threads(config_).weights_sha256, usual);
  config_.recipe.clip = 0;
  EXPECT_NE(train_on_threads(config_).weights_sha256, usual);
}

TEST_F(RecipeTest, ClippingLimitsTheStep) {
  config_.engine = "torch";
  config_.dtype = "float64";
  config_.momentum = config_.weight_decay = 0;
  config_.iterations = 1;
  config_.learning_rate = 0;
  const auto start = values_of(trained(config_));
  config_.learning_rate = 2;
  config_.recipe.clip = 0.01;
  for (int workers : {1, 3}) {
    config_.workers = workers;
    const auto end = values_of(trained(config_));
    double squares = 0;
    for (std::size_t i = 0; i < end.size(); ++i) squares += std::pow(end[i] - start[i], 2);
    EXPECT_NEAR(std::sqrt(squares), 0.02, 1e-14);
  }
  config_.recipe.clip = 0;
  config_.recipe.clip_value = 1e-4;
  const auto end = values_of(trained(config_));
  double most = 0;
  for (std::size_t i = 0; i < end.size(); ++i) most = std::max(most, std::abs(end[i] - start[i]));
  EXPECT_NEAR(most, 2e-4, 1e-15);
}

TEST_F(RecipeTest, TheRecordedRateIsTheRateOfTheStep) {
  config_.run_dir = folder_.path() / "run";
  config_.recipe.schedule = "cosine";
  config_.recipe.warmup = 3.0 / 7;
  config_.recipe.lr_scale = "linear";
  config_.recipe.lr_batch = 4;
  train_on_threads(config_);
  const auto lines = metrics_of(config_.run_dir, "iteration");
  ASSERT_EQ(lines.size(), 9u);
  const double full = 0.04;
  for (std::size_t i = 0; i < 9; ++i) {
    const double share = i < 3 ? static_cast<double>(i + 1) / 3
                               : (1 + std::cos(M_PI * static_cast<double>(i - 3) / 6)) / 2;
    EXPECT_NEAR(lines[i].at("lr").get<double>(), full * share, 1e-12) << i;
  }
  // A rate of 0 changes no weights; a rate that decreases to 0 changes them less than a constant
  // one.
  config_.run_dir.clear();
  const auto falling = values_of(trained(config_));
  config_.recipe.schedule = "constant";
  EXPECT_GT(distance(values_of(trained(config_)), falling), 1e-3);
}

TEST_F(RecipeTest, EveryOptimizerLearnsAndResumes) {
  config_.recipe.schedule = "step:2,0.5";
  config_.recipe.warmup = 0.5;
  config_.recipe.no_decay_bn_bias = true;
  const std::map<std::string, double> rates{
      {"sgd", 0.05}, {"adam", 0.01}, {"adamw", 0.01}, {"lars", 5}, {"lamb", 0.05}};
  for (const std::string& name : optim::optimizer_names()) {
    TrainConfig config = config_;
    config.recipe.optimizer = name;
    config.momentum = optim::has_momentum(name) ? 0.9 : 0;
    config.learning_rate = rates.at(name);
    config.iterations = 30;
    const run::Summary whole = train_on_threads(config);
    EXPECT_LT(whole.train_loss, 2.2) << name;  // it begins with 2.3
    config.run_dir = folder_.path() / name;
    config.checkpoint_every = 10;
    config.iterations = 10;
    train_on_threads(config);
    config.iterations = 30;
    config.resume = true;
    EXPECT_EQ(train_on_threads(config).weights_sha256, whole.weights_sha256) << name;
    config.recipe.beta2 = 0.99;
    testing::expect_error<UsageError>([&] { train_on_threads(config); },
                                      {"was made with --beta2 0.999, not 0.99"});
  }
}

TEST_F(RecipeTest, ARunWithAScheduleOverItsLengthCannotBeExtended) {
  config_.recipe.schedule = "polynomial";
  config_.run_dir = folder_.path() / "run";
  config_.checkpoint_every = 4;
  train_on_threads(config_);
  config_.resume = true;
  config_.iterations = 12;
  testing::expect_error<UsageError>([&] { train_on_threads(config_); },
                                    {"was made with --iterations 9, not 12"});
}

TEST_F(RecipeTest, BiasesCanBeExcludedFromDecay) {
  for (const char* engine : {"torch", "auto"}) {
    TrainConfig config = config_;
    config.engine = engine;
    config.iterations = 1;
    config.weight_decay = 0;
    const auto without = trained(config);
    config.weight_decay = 0.5;
    const auto decayed = trained(config);
    config.recipe.no_decay_bn_bias = true;
    const auto spared = trained(config);
    for (std::size_t i = 0; i < spared.size(); ++i) {
      const bool bias = spared[i].shape.size() == 1;
      EXPECT_EQ(spared[i], bias ? without[i] : decayed[i]) << spared[i].name;
      EXPECT_NE(without[i], decayed[i]) << spared[i].name;
    }
  }
}

TEST_F(RecipeTest, InvalidOptionsAreRefusedWithTheRange) {
  auto expect_refusal = [](auto change, std::initializer_list<std::string_view> words) {
    TrainConfig config = small_job();
    config.epochs = 3;
    change(config);
    testing::expect_error<UsageError>([&] { config.validate(); }, words);
  };
  auto expect_recipe = [&](auto field, auto value, std::initializer_list<std::string_view> words) {
    expect_refusal([&](TrainConfig& config) { config.recipe.*field = value; }, words);
  };
  expect_recipe(&Recipe::clip, -1, {"--clip is -1", "from 0 up"});
  expect_recipe(&Recipe::clip, INFINITY, {"--clip is inf"});
  expect_recipe(&Recipe::clip_value, -0.5, {"--clip-value is -0.5", "from 0 up"});
  expect_recipe(&Recipe::warmup, 3, {"--warmup is 3", "from 0 to below 3 epochs"});
  expect_recipe(&Recipe::warmup, -1, {"--warmup is -1", "from 0 up"});
  expect_recipe(&Recipe::schedule, "stairs", {"--schedule is 'stairs'", "one-cycle"});
  expect_recipe(&Recipe::schedule, "step:x", {"--schedule is 'step:x'", "'x' is not a number"});
  expect_recipe(&Recipe::label_smoothing, 1, {"--label-smoothing is 1", "from 0 to below 1"});
  expect_recipe(&Recipe::label_smoothing, -0.1, {"--label-smoothing is -0.1"});
  expect_recipe(&Recipe::label_smoothing, NAN, {"--label-smoothing is nan"});
  expect_recipe(&Recipe::accumulate, 0, {"--accumulate is 0", "from 1 to 65536"});
  expect_recipe(&Recipe::lr_batch, 0, {"--lr-batch is 0", "1 or more"});
  expect_recipe(&Recipe::lr_scale, "cubic", {"--lr-scale is 'cubic'", "none, linear and sqrt"});
  expect_recipe(&Recipe::optimizer, "adagrad", {"'adagrad'", "sgd, adam, adamw, lars and lamb"});
  expect_recipe(&Recipe::optimizer, "adam", {"--momentum applies to --optimizer sgd and lars"});
  expect_recipe(&Recipe::beta1, 1, {"--beta1 is 1", "from 0 to below 1"});
  expect_recipe(&Recipe::epsilon, 0, {"--epsilon is 0"});
  expect_recipe(&Recipe::trust, -1, {"--trust is -1"});
  expect_recipe(&Recipe::zero_gamma, true, {"model lenet5 has no residual blocks"});
  expect_refusal(
      [](TrainConfig& config) {
        config.recipe.schedule = "one-cycle";
        config.recipe.warmup = 1;
      },
      {"one-cycle includes a warm-up"});
  expect_refusal(
      [](TrainConfig& config) {
        config.model = "vgg11";
        config.data = "cifar10";
        config.engine = "torch";
        config.sync_bn = true;
        config.recipe.accumulate = 2;
      },
      {"--accumulate computes it in parts"});
}

TEST_F(RecipeTest, AWarmUpLongerThanTheIterationsIsRefused) {
  config_.recipe.warmup = 2;
  testing::expect_error<UsageError>([&] { train_on_threads(config_); },
                                    {"--warmup is 2 epochs", "shorter than the training of 9"});
}

}  // namespace
}  // namespace lockstep::internal::train
