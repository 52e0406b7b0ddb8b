#include "train/config/config.h"

#include <lockstep/error.h>

#include "data/image_set.h"
#include "launch/hosts/cores.h"
#include "models/model_names.h"
#include "run/ranking.h"
#include "train/config/options.h"
#include "train/config/slowdown.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::train {

void TrainConfig::validate() const {
  TrainConfig copy = *this;
  for (const run::Option& option : options_of(copy)) run::check(option);
  data::check_image_set_name(data, "--data");
  const data::ImageKind images = data::image_kind(data);
  models::require_fit(model, images.shape, images.classes);
  if (engine == "onednn" && dtype != "float32")
    throw UsageError("--engine onednn computes in float32 only: use --engine torch");
  if (sync_bn && !models::has_batch_norm(model))
    throw UsageError(fmt::format("model {} has no batch norm: leave out --sync-bn", model));
  require_possible_method();
  require_possible_shards();
  require_possible_split();
  if (epochs == 0 && iterations == 0)
    throw UsageError("--epochs is 0 and --iterations is not given: there is nothing to train");
  if (batch < static_cast<std::size_t>(workers))
    throw UsageError(
        fmt::format("--batch is {}, less than the {} workers: each worker needs at least one image",
                    batch, workers));
  if (nesterov && momentum == 0)
    throw UsageError("--nesterov needs a --momentum above 0: 0.9 is usual");
  require_possible_recipe();
  Slowdown::parse(slow);
  require_possible_checkpoints();
  require_possible_control();
  require_possible_elastic();
}

void TrainConfig::require_possible_checkpoints() const {
  if ((resume || checkpoint_every > 0) && run_dir.empty())
    throw UsageError("checkpoints are written to the run folder: name it with --run-dir");
  if ((resume || checkpoint_every > 0) && parts_workers(parse_mistake(mistake)))
    throw UsageError(
        fmt::format("--mistake {} gives every worker different weights, and a checkpoint has those "
                    "of one worker",
                    mistake));
  if (restarts > 0 && transport == "thread")
    throw UsageError(
        "--restarts needs each worker in its own process: with --transport thread all workers "
        "and the launcher are one process");
}

void TrainConfig::require_possible_elastic() const {
  if (!elastic) {
    if (min_workers != 1) throw UsageError("--min-workers needs --elastic");
    if (hang_timeout != 60) throw UsageError("--hang-timeout needs --elastic");
    return;
  }
  if (min_workers < 1 || min_workers > workers)
    throw UsageError(fmt::format("--min-workers is {}: it must be from 1 to the {} workers",
                                 min_workers, workers));
  if (shards == 0)
    throw UsageError(
        "--elastic needs --shards: the remaining workers take over the shards of a lost one. Use "
        "at "
        "least as many shards as workers");
  const std::string sync = method().sync;
  const bool mpi = transport == "mpi" || transport == "shm+mpi";
  const std::string why =
      sync == "sharded"  ? "--sync sharded keeps each part of the optimizer's state on one worker"
      : sync == "server" ? "--sync server keeps the weights on the workers with servers"
      : sync_bn          ? "--sync-bn needs a worker for every shard"
      : transport == "thread"
          ? "the workers of --transport thread are one process, and die together"
      : mpi ? fmt::format("--transport {} uses MPI, which ends all ranks when one dies", transport)
      : sync::order_dependence(method()).empty()
          ? ""
          : fmt::format("--algorithm {} adds in an order that depends on the number of workers",
                        name_of(method().algorithm));
  if (!why.empty())
    throw UsageError(fmt::format(
        "--elastic continues without lost workers, but {}: leave out one of them", why));
}

void TrainConfig::require_possible_control() const {
  if (policy.patience && epochs > 0 && static_cast<std::size_t>(*policy.patience) >= epochs)
    throw UsageError(fmt::format(
        "--patience is {}: it must be from 1 to below the {} epochs of the training (--epochs), or "
        "it never stops the run",
        *policy.patience, epochs));
  if (!policy.plateau && policy.plateau_factor != RunPolicy().plateau_factor)
    throw UsageError("--plateau-factor needs --plateau");
  const std::string sync = method().sync;
  const bool apart = sync == "local-sgd" || (sync == "server" && staleness);
  if (policy.check_every && apart)
    throw UsageError(fmt::format(
        "--check-every expects the same weights on all workers, but {} lets them differ: leave out "
        "one of them",
        sync == "server" ? "--staleness" : "--sync local-sgd"));
  if (!policy.balance) return;
  const std::string_view why = shards > 0            ? "--shards fixes each shard's images"
                               : sync == "local-sgd" ? "--sync local-sgd averages weights"
                               : apart ? "--staleness already lets workers run ahead of the slowest"
                               : !mistake.empty() ? "--mistake needs an even split"
                                                  : "";
  if (!why.empty())
    throw UsageError(fmt::format(
        "--balance gives workers different numbers of images, but {}: leave out one of them", why));
}

sync::Method TrainConfig::method() const {
  sync::Method parsed = sync::parse_method(sync, algorithm);
  if (!compress.empty()) parsed.method += "+" + compress;
  return parsed;
}

void TrainConfig::require_possible_method() const {
  const std::string sync = method().sync;
  sync::require_valid(method_options(), std::max(1, workers));
  if (!compress.empty() && sync != "ddp")
    throw UsageError(fmt::format(
        "--compress applies to the buckets of ddp: leave it out with --sync {}", this->sync));
  const bool averages = sync::averages_gradients(sync);
  if (!mistake.empty() && !averages)
    throw UsageError(fmt::format(
        "--mistake changes how gradients are averaged: leave it out with --sync {}", sync));
  if (!averages) require_recipe_of_shared_update(sync);
  if (shards == 0) return;
  const std::string_view why = sync == "local-sgd"             ? "--sync local-sgd"
                               : sync == "server" && staleness ? "--staleness"
                               : !compress.empty()             ? "--compress"
                                                               : "";
  if (!why.empty())
    throw UsageError(fmt::format(
        "{} makes results depend on the number of workers, which --shards rules out: leave out one "
        "of them",
        why));
}

void TrainConfig::require_recipe_of_shared_update(const std::string& sync) const {
  if (recipe.clip > 0 || recipe.clip_value > 0)
    throw UsageError(fmt::format(
        "--clip and --clip-value need the whole gradient on every worker, which --sync {} does not "
        "keep there: use ddp",
        sync));
  if (sync == "local-sgd") return;
  if (recipe.no_decay_bn_bias)
    throw UsageError(fmt::format(
        "--no-decay-bn-bias needs whole tensors, which --sync {} splits: use ddp", sync));
  const bool fits = recipe.optimizer == "sgd" ||
                    (sync == "sharded" && recipe.optimizer != "lars" && recipe.optimizer != "lamb");
  if (!fits)
    throw UsageError(fmt::format(
        "--optimizer {} does not work with --sync {}, which supports {}: use ddp", recipe.optimizer,
        sync, sync == "sharded" ? "sgd, adam and adamw, since it splits tensors" : "sgd only"));
}

void TrainConfig::require_possible_shards() const {
  sync::require_shards(shards, workers);
  if (shards == 0) return;
  if (batch < static_cast<std::size_t>(shards))
    throw UsageError(
        fmt::format("--batch is {}, less than the {} shards: each shard needs at least one image",
                    batch, shards));
  if (sync_bn && shards > workers)
    throw UsageError(fmt::format(
        "--sync-bn normalises over all shards at once, but {} workers run {} shards one after "
        "another: use as many workers as shards, or leave out --sync-bn",
        workers, shards));
  if (!mistake.empty())
    throw UsageError("--mistake changes what single workers do: leave out --shards or --mistake");
}

void TrainConfig::require_possible_split() const {
  if (split != "array") return;
  const std::string_view why = elastic ? "--elastic gives the images of a lost worker to others"
                               : shards > 0
                                   ? "--shards gives the same bits on any number of workers"
                               : policy.balance   ? "--balance moves images to faster workers"
                               : !mistake.empty() ? "--mistake needs batches of all images"
                                                  : "";
  if (!why.empty())
    throw UsageError(fmt::format(
        "--split array keeps every image on one worker, but {}: leave out one of them", why));
}

void TrainConfig::require_possible_recipe() const {
  const optim::Shape shape = optim::parse_shape(recipe.schedule);
  if (recipe.warmup > 0 && shape.name == "one-cycle")
    throw UsageError("--schedule one-cycle includes a warm-up: leave out --warmup");
  if (momentum > 0 && !optim::has_momentum(recipe.optimizer))
    throw UsageError(fmt::format("--momentum applies to --optimizer sgd and lars: {} has --beta1",
                                 recipe.optimizer));
  if (epochs > 0 && recipe.warmup >= static_cast<double>(epochs))
    throw UsageError(fmt::format(
        "--warmup is {} epochs: it must be shorter than the training, from 0 to below {} epochs",
        recipe.warmup, epochs));
  if (recipe.zero_gamma && !models::has_residual_blocks(model))
    throw UsageError(fmt::format("model {} has no residual blocks: leave out --zero-gamma", model));
  if (recipe.zero_gamma && !init.empty())
    throw UsageError("--init sets the initial weights of batch norm: leave out --zero-gamma");
  if (recipe.accumulate > 1 && sync_bn)
    throw UsageError(
        "--sync-bn normalises over the whole global batch, and --accumulate computes it in parts: "
        "leave out one of them");
}

std::string TrainConfig::inexactness() const {
  return run::inexactness(method().sync, staleness.has_value(), compress);
}

DataType TrainConfig::type() const {
  return dtype == "float64" ? DataType::float64 : DataType::float32;
}

int TrainConfig::threads_per_worker() const {
  if (threads > 0) return threads;
  return shards > 0 ? 1 : launch::threads_per_worker(workers);
}

std::string TrainConfig::convolution_choice() const {
  return shards > 0 && convolutions == "auto" ? "fixed" : convolutions;
}

nlohmann::json to_json(const TrainConfig& config) {
  const sync::Method method = config.method();
  TrainConfig resolved = config;  // "auto" and short names are replaced by their meanings
  resolved.threads = config.threads_per_worker();
  resolved.convolutions = config.convolution_choice();
  resolved.sync = method.sync;
  resolved.algorithm = name_of(method.algorithm);
  nlohmann::json json{{"format", 1},
                      {"conv_methods", config.methods},
                      {"method", method.method},
                      {"lr_full", config.full_rate()}};
  for (const run::Option& option : options_of(resolved))
    if (option.recorded) json[run::json_key_of(option)] = run::value_of(option);
  return json;
}

}  // namespace lockstep::internal::train
