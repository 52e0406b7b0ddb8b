// The table of options: every option survives the command line, forwarding and config.json.
#include "train/config/options.h"

#include "cli/command_options.h"
#include "support/temporary_folder.h"

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lockstep::internal::train {
namespace {

using nlohmann::json;

/// Another valid value of the option.
json other_value(const run::Option& option) {
  const json value = run::value_of(option);
  if (!option.choices.empty())
    return value == option.choices.back() ? option.choices.front() : option.choices.back();
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number_float()) return value == 0 ? 0.25 : value.get<double>() / 2;
  if (value.is_number()) return value.get<int>() + 1;
  if (value.is_null()) return option.name == "--stop-at-accuracy" ? json(0.75) : json(3);
  return "some text, 'quoted'=1";
}

/// A configuration in which no option has its default.
TrainConfig changed_config() {
  TrainConfig config;
  for (const run::Option& option : options_of(config)) run::set_value(option, other_value(option));
  config.sync = "all-reduce";
  config.algorithm = "star";
  return config;
}

/// The configuration from the arguments of `lockstep train`; the first is "train".
TrainConfig parsed(std::vector<std::string> arguments) {
  TrainConfig config;
  CLI::App app;
  cli::CommandOptions options(*app.add_subcommand("train"), {}, options_of(config), run::kTrain);
  std::reverse(arguments.begin(), arguments.end());
  app.parse(arguments);
  options.finish();
  return config;
}

template <typename Which>
void expect_same(TrainConfig expected, TrainConfig found, const Which& which) {
  const run::Options wanted = options_of(expected), got = options_of(found);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (which(wanted[i]) && run::applies(wanted[i], wanted)) {
      EXPECT_EQ(run::value_of(got[i]), run::value_of(wanted[i])) << wanted[i].name;
      ++compared;
    }
  EXPECT_GT(compared, 40u);
}

TEST(Options, EveryOptionHasANameAndHelp) {
  TrainConfig config;
  std::set<std::string> names;
  for (const run::Option& option : options_of(config)) {
    EXPECT_TRUE(option.name.starts_with("--")) << option.name;
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    EXPECT_NO_THROW(run::check(option)) << "the default is allowed";
  }
}

TEST(Options, ResolvedOptionsNameTheirSources) {
  TrainConfig config;
  const run::Options options = options_of(config);
  for (const run::Option& option : options)
    for (const std::string& source : option.resolved_from)
      EXPECT_TRUE(run::find(options, source) || source == "--methods") << option.name << source;
  EXPECT_FALSE(run::find(options, "--threads")->resolved_from.empty());
}

TEST(Options, EveryOptionIsParsed) {
  TrainConfig config = changed_config();
  const run::Options options = options_of(config);
  std::vector<std::string> arguments{"train"};
  for (const run::Option& option : options)
    if (run::applies(option, options))
      for (const std::string& word : run::arguments_of(option)) arguments.push_back(word);
  expect_same(config, parsed(arguments), [](const run::Option&) { return true; });
}

TEST(Options, WorkersUnderMpirunGetTheOptions) {
  const TrainConfig config = changed_config();
  expect_same(config, parsed(train_arguments(config)),
              [](const run::Option& option) { return option.forwarded; });
  const TrainConfig usual;
  expect_same(usual, parsed(train_arguments(usual)), [](const run::Option& option) {
    return option.forwarded && option.name != "--threads";  // resolved before they are forwarded
  });
}

TEST(Options, ConfigJsonIsReadBack) {
  const TrainConfig config = changed_config();
  const testing::TemporaryFolder folder;
  const auto file = folder.write("config.json", to_json(config).dump(2));
  expect_same(config, parsed({"train", "--config", file.string()}),
              [](const run::Option& option) { return option.recorded; });
}

TEST(Options, ConfigJsonHasTheKeysThatVersion010Had) {
  const std::set<std::string> keys{"accumulate",
                                   "algorithm",
                                   "augment",
                                   "balance",
                                   "batch",
                                   "beta1",
                                   "beta2",
                                   "bucket_mb",
                                   "check_every",
                                   "checkpoint_errors",
                                   "checkpoint_every",
                                   "clip",
                                   "clip_value",
                                   "compress",
                                   "conv",
                                   "conv_methods",
                                   "data",
                                   "data_dir",
                                   "dtype",
                                   "elastic",
                                   "engine",
                                   "epochs",
                                   "epsilon",
                                   "first_bucket_mb",
                                   "format",
                                   "hang_timeout",
                                   "init",
                                   "iterations",
                                   "keep_checkpoints",
                                   "label_smoothing",
                                   "limit",
                                   "loader_threads",
                                   "local_steps",
                                   "lr",
                                   "lr_batch",
                                   "lr_full",
                                   "lr_scale",
                                   "method",
                                   "min_workers",
                                   "mistake",
                                   "model",
                                   "momentum",
                                   "nesterov",
                                   "no_decay_bn_bias",
                                   "optimizer",
                                   "patience",
                                   "plateau",
                                   "plateau_factor",
                                   "restarts",
                                   "schedule",
                                   "seed",
                                   "servers",
                                   "shards",
                                   "shuffle",
                                   "slow",
                                   "slow_data",
                                   "staleness",
                                   "stop_at_accuracy",
                                   "sync",
                                   "sync_bn",
                                   "threads",
                                   "trace",
                                   "transport",
                                   "trust",
                                   "warmup",
                                   "weight_decay",
                                   "workers",
                                   "zero_gamma"};
  const json recorded = to_json(TrainConfig());
  for (const std::string& key : keys) EXPECT_TRUE(recorded.contains(key)) << key;
  EXPECT_EQ(recorded.at("lr"), 0.01);
  EXPECT_EQ(recorded.at("shuffle"), true);
  EXPECT_EQ(recorded.at("staleness"), nullptr);
  EXPECT_EQ(recorded.at("init"), "");
}

TEST(Options, IdentityHasTheOptionsThatDecideAStep) {
  TrainConfig config;
  std::map<std::string, std::string> identity = identity_of(config);
  EXPECT_EQ(identity.size(), 32u);
  EXPECT_EQ(identity.at("--batch"), "64");
  EXPECT_EQ(identity.at("--no-shuffle"), "off");
  EXPECT_EQ(identity.at("--epsilon"), "1e-08");
  EXPECT_EQ(identity.at("--local-steps"), "");
  EXPECT_FALSE(identity.contains("--workers"));
  config.split = "array";
  config.workers = 3;
  EXPECT_EQ(identity_of(config).at("--workers"), "3");
  config.sync = "local-sgd";
  config.recipe.schedule = "cosine";
  identity = identity_of(config);
  EXPECT_EQ(identity.at("--local-steps"), "4");
  EXPECT_EQ(identity.at("--epochs"), "1");
}

}  // namespace
}  // namespace lockstep::internal::train
