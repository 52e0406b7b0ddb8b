#include "cli/train_options.h"

#include "base/files.h"
#include "cli/command.h"
#include "cli/control_options.h"
#include "cli/recipe_options.h"
#include "cli/shipped_data.h"
#include "cli/transport_list.h"
#include "engine/make_engine.h"
#include "models/model_names.h"

#include <fmt/format.h>

namespace lockstep::cli {

void add_train_options(CLI::App& command, train::TrainConfig& config, TrainView& view) {
  config.data_dir = shipped_data();
  auto option = [&](const std::string& name, auto& value, const std::string& help) {
    command.add_option(name, value, help)->capture_default_str();
  };
  option("--model", config.model,
         "network: " + fmt::format("{}", fmt::join(models::model_names(), ", ")));
  option("--data", config.data, "data set: mnist, cifar10 or synthetic");
  option("--data-dir", config.data_dir, "folder of the data; the default ships with Lockstep");
  option("--limit", config.limit, "use the first N training images; 0 for all");
  option("--workers", config.workers, "number of workers");
  option("--threads", config.threads, "threads per worker; 0 shares out the cores");
  option("--loader-threads", config.loader_threads,
         "threads per worker that load images ahead; 0 for one, or none where batches are small");
  option("--transport", config.transport,
         "how workers talk: " + fmt::format("{}", fmt::join(transport_list(), ", ")) +
             " or auto; only thread's are no processes");
  option("--algorithm", config.algorithm,
         "how an all-reduce is done: auto, star, tree, ring, halving-doubling, direct, "
         "hierarchical, native");
  option("--compress", config.compress,
         "send ddp's buckets as float16, bfloat16, topk:SHARE, powersgd:RANK or sign; with error "
         "feedback but for the first two");
  option("--local-steps", config.local_steps,
         "local-sgd: steps between two averages of the weights");
  command.add_option("--staleness", config.staleness,
                     "server: update asynchronously, with workers at most N steps ahead of the "
                     "slowest; synchronous without");
  option("--servers", config.servers, "server: spread the weights over the first N workers");
  option("--engine", config.engine,
         "what computes: " + fmt::format("{}", fmt::join(engine::engine_names(), ", ")));
  option("--conv", config.convolutions,
         "how the onednn engine computes convolutions: auto (what is fastest here, measured once), "
         "fixed (by a rule on their shapes, the same everywhere) or direct");
  option("--dtype", config.dtype, "float32 or float64; engine onednn has float32 only");
  option("--batch", config.batch, "global batch: images of all workers in one step");
  option("--epochs", config.epochs, "passes over the training images");
  option("--iterations", config.iterations, "stop after N steps; 0 for no limit");
  option("--lr", config.learning_rate, "learning rate");
  option("--momentum", config.momentum, "momentum");
  option("--weight-decay", config.weight_decay, "weight decay");
  command.add_flag("--nesterov", config.nesterov, "Nesterov's form of momentum, as in PyTorch");
  add_recipe_options(command, config.recipe);
  option("--seed", config.seed, "of the initial weights and the order of the images");
  option("--first-bucket-mb", config.first_bucket_mb, "size of ddp's first bucket in MiB");
  option("--bucket-mb", config.bucket_mb, "size of ddp's other buckets in MiB");
  command.add_flag_callback(
      "--no-shuffle", [&config] { config.shuffle = false; },
      "take the images in the order of the file");
  command.add_flag("--augment", config.augment,
                   "random crops (4 pixels) and flips of the training images");
  command.add_flag("--sync-bn", config.sync_bn,
                   "batch norm over the whole global batch, as with one worker");
  option(
      "--shards", config.shards,
      "logical workers, a power of two: results are the same to the bit on any number of workers "
      "up to it; 0 for one a worker, and results that depend on it");
  option("--init", config.init, "start from these weights (safetensors)");
  option("--run-dir", config.run_dir, "folder that records the run; default below runs/");
  option("--trace", config.trace, "iterations that the run's trace.json shows; 0 for none");
  command
      .add_option("--slow", config.slow,
                  "RANK:MS, a straggler on purpose: this rank takes MS milliseconds longer an "
                  "iteration")
      ->group("Studies");
  command
      .add_option("--slow-data", config.slow_data,
                  "a slow loader on purpose: a batch takes MS milliseconds longer to load")
      ->group("Studies");
  option("--log-every", view.log_every, "print the loss every N iterations");
  command.add_flag("--tensorboard", view.tensorboard,
                   "also write event files for TensorBoard into the run's folder");
  option("--json", view.json, "write the result to this file; - for standard output");
}

void finish_train_options(const CLI::App& command, train::TrainConfig& config,
                          const TrainView& view) {
  // Steps alone say how long: then as many epochs as they need.
  if (command.count("--iterations") > 0 && command.count("--epochs") == 0) config.epochs = 0;
  if (config.command.empty()) config.command = typed_command();
  config.validate();
  require_used(command, config.recipe);
  // Better now than after hours of training.
  if (!config.save.empty()) require_writable(config.save);
  if (!view.json.empty() && view.json != "-") require_writable(view.json);
}

std::vector<std::string> train_arguments(const train::TrainConfig& config) {
  std::vector<std::string> arguments{"train"};
  auto add = [&](const char* name, const auto& value) {
    arguments.insert(arguments.end(), {name, fmt::format("{}", value)});
  };
  add("--model", config.model);
  add("--data", config.data);
  add("--data-dir", config.data_dir.string());
  add("--limit", config.limit);
  add("--threads", config.threads_per_worker());
  add("--transport", config.transport);
  add("--sync", config.sync);
  add("--algorithm", config.algorithm);
  if (!config.compress.empty()) add("--compress", config.compress);
  add("--local-steps", config.local_steps);
  if (config.staleness) add("--staleness", *config.staleness);
  add("--servers", config.servers);
  add("--engine", config.engine);
  add("--conv", config.convolutions);
  add("--dtype", config.dtype);
  add("--batch", config.batch);
  add("--epochs", config.epochs);
  add("--iterations", config.iterations);
  add("--lr", config.learning_rate);
  add("--momentum", config.momentum);
  add("--weight-decay", config.weight_decay);
  for (std::string& argument : recipe_arguments(config.recipe))
    arguments.push_back(std::move(argument));
  for (std::string& argument : control_arguments(config.control))
    arguments.push_back(std::move(argument));
  add("--seed", config.seed);
  add("--first-bucket-mb", config.first_bucket_mb);
  add("--bucket-mb", config.bucket_mb);
  add("--trace", config.trace);
  if (!config.mistake.empty()) add("--mistake", config.mistake);
  add("--loader-threads", config.loader_threads);
  if (!config.slow.empty()) add("--slow", config.slow);
  if (config.slow_data > 0) add("--slow-data", config.slow_data);
  if (!config.shuffle) arguments.emplace_back("--no-shuffle");
  if (config.augment) arguments.emplace_back("--augment");
  if (config.nesterov) arguments.emplace_back("--nesterov");
  if (config.sync_bn) arguments.emplace_back("--sync-bn");
  if (config.shards > 0) add("--shards", config.shards);
  if (config.checkpoint_every > 0) add("--checkpoint-every", config.checkpoint_every);
  add("--keep-checkpoints", config.keep_checkpoints);
  add("--checkpoint-errors", config.checkpoint_errors);
  if (config.resume) arguments.emplace_back("--resume");
  if (!config.init.empty()) add("--init", config.init.string());
  if (!config.save.empty()) add("--save", config.save.string());
  if (!config.run_dir.empty()) add("--run-dir", config.run_dir.string());
  if (!config.command.empty()) add("--command", config.command);
  return arguments;
}

}  // namespace lockstep::cli
