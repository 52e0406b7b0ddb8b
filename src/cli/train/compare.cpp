// lockstep compare: the same job with every sync method, or with the classic mistakes.
#include "study/compare.h"

#include <lockstep/error.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/shipped_data.h"
#include "cli/train/study_runs.h"
#include "cli/train/train_options.h"
#include "study/mistakes.h"
#include "train/config/options.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>

namespace lockstep::internal::cli {

namespace {

struct CompareCommand {
  train::TrainConfig job;
  std::vector<std::string> methods = sync::method_names();
  bool mistakes = false;
  std::optional<int> repeat;
  std::optional<CommandOptions> options;
};

run::Options options_of(CompareCommand& command) {
  return {{.name = "--methods",
           .field = &command.methods,
           .group = "Study",
           .help = "sync methods to compare, separated by commas; ddp+float16 is ddp with "
                   "--compress float16, and --compress adds such methods"},
          {.name = "--mistakes",
           .field = &command.mistakes,
           .group = "Study",
           .help = "compare the classic mistakes with correct training, instead of the sync "
                   "methods"},
          {.name = "--repeat",
           .field = &command.repeat,
           .group = "Study",
           .range = run::between(1, 100),
           .help = "train all variants N times, one after another, and show medians and ranges; "
                   "default: up to 3 within a minute"}};
}

/// Experiment A of the literature: LeNet-5 on 100 images of MNIST, four workers.
train::TrainConfig default_job() {
  train::TrainConfig job;
  job.workers = 4;
  job.limit = 100;
  job.batch = 16;
  job.epochs = 100;
  return job;
}

/// The usual recipe of the larger networks, as in experiment B: all CIFAR-10 images, a batch of
/// 256, crops and flips. Keeps options that were given.
void use_defaults_of_large_models(const CommandOptions& given, train::TrainConfig& job) {
  auto unless_given = [&](const char* option, auto& value, auto usual) {
    if (!given.given(option)) value = usual;
  };
  unless_given("--data", job.data, "cifar10");
  unless_given("--limit", job.limit, 0);
  unless_given("--batch", job.batch, 256);
  unless_given("--epochs", job.epochs, 1);
  unless_given("--lr", job.learning_rate, 0.1);
  if (optim::has_momentum(job.recipe.optimizer)) unless_given("--momentum", job.momentum, 0.9);
  unless_given("--weight-decay", job.weight_decay, 1e-4);
  if (job.data == "cifar10") unless_given("--augment", job.augment, true);
}

/// The folder's name and the workers.
std::string announcement(const train::TrainConfig& config) {
  return fmt::format("{}, {} worker{}", config.run_dir.filename().string(), config.workers,
                     config.workers == 1 ? "" : "s");
}

StudyRuns runs_of(const CompareCommand& command, std::size_t variants) {
  return {command.job.run_dir, variants, study_progress(*command.options)};
}

void print(const study::Comparison& comparison) {
  const run::Ranking ranking = comparison.ranking();
  std::optional<std::size_t> fastest;
  for (std::size_t i = 1; i < comparison.runs.size(); ++i)
    if (ranking.fastest() && comparison.runs[i].name == ranking.fastest()->name) fastest = i;
  print_table(study::table_of(comparison), fastest);
  fmt::print("{}\n", study::verdict_of(comparison));
  for (const std::string& sentence : study::sentences_of(comparison)) fmt::print("{}\n", sentence);
}

void run_compare(const CompareCommand& command) {
  StudyRuns runs = runs_of(command, command.methods.size() + 1);
  std::map<std::string, int> rounds;  // by variant
  const study::Comparison comparison = study::compare(
      command.job, command.methods,
      [&](const train::TrainConfig& config) {
        std::string what = announcement(config);
        if (const int round = ++rounds[what]; round > 1)
          what += fmt::format(", repetition {}", round);
        return runs.run(config, what);
      },
      command.repeat);
  if (command.job.json != "-") print(comparison);
  finish_study(command.job, study::to_json(comparison));
}

void run_mistakes(const CompareCommand& command) {
  StudyRuns runs = runs_of(command, study::variants_of(command.job).size());
  const std::vector<study::TrainedVariant> variants = study::train_variants(
      command.job,
      [&](const train::TrainConfig& config) { return runs.run(config, announcement(config)); });
  if (command.job.json != "-") {
    print_table(study::table_of(variants), 0);
    for (const std::string& sentence : study::sentences_of(variants)) fmt::print("{}\n", sentence);
  }
  finish_study(command.job, study::to_json(variants));
}

void check(CompareCommand& options) {
  CommandOptions& given = *options.options;
  given.finish({"--threads"});  // a record's are those of its workers; one worker has more
  if (options.job.run_dir.empty()) options.job.run_dir = default_run_dir("compare");
  if (options.job.model != default_job().model) use_defaults_of_large_models(given, options.job);
  if (options.mistakes && !options.job.compress.empty())
    throw UsageError("--mistakes requires uncompressed gradients: leave out --compress");
  for (const std::string& compression : split(options.job.compress, ','))
    if (!compression.empty()) options.methods.push_back("ddp+" + compression);
  options.job.compress.clear();
  finish_train_options(given, options.job);
  require_writable_results(options.job);
  // The results of local-sgd depend on the number of workers, which --shards rules out.
  if (options.job.shards > 0 && !given.given("--methods")) std::erase(options.methods, "local-sgd");
  for (const std::string& method : options.methods)
    study::with_method(options.job, method).validate();
  if (options.mistakes && given.given("--methods"))
    throw UsageError("--mistakes always uses ddp: leave out --methods");
  if (options.mistakes && options.repeat)
    throw UsageError("--mistakes compares what is learned and not speed: leave out --repeat");
  if (options.mistakes && options.job.shards > 0)
    throw UsageError(
        "the results of --mistakes depend on the number of workers: leave out --shards");
  if (options.job.sync_bn && options.job.shards > 0)
    throw UsageError(
        "--sync-bn normalises over all shards at once, but the run with one worker computes them "
        "one after another: leave out --sync-bn or --shards");
  if (options.mistakes && options.job.workers < 2)
    throw UsageError("--mistakes requires several workers: give --workers 2 or more");
}

}  // namespace

void add_compare_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "compare",
      std::string(kCompareSummary) +
          ". By default it trains LeNet-5 on 100 images of MNIST with 4 workers. Other models are "
          "trained on all CIFAR-10 images by default, with batch 256, lr 0.1, momentum 0.9, weight "
          "decay 1e-4, crops and flips, for 1 epoch");
  auto options = std::make_shared<CompareCommand>();
  options->job = default_job();
  options->job.data_dir = shipped_data();
  options->options.emplace(*command, options_of(*options), train::options_of(options->job),
                           run::kCompare);
  command->callback([options, &code] {
    try {
      check(*options);
      options->mistakes ? run_mistakes(*options) : run_compare(*options);
    } catch (...) {
      code = report_exception("lockstep compare");
    }
  });
}

}  // namespace lockstep::internal::cli
