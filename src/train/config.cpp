#include "train/config.h"

#include <lockstep/error.h>

#include "base/text.h"
#include "comm/transports.h"
#include "data/image_set.h"
#include "engine/make_engine.h"
#include "launch/cores.h"
#include "models/model_names.h"
#include "train/slowdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::train {

namespace {

void require_one_of(const std::string& value, const std::vector<std::string>& known,
                    std::string_view option) {
  if (std::find(known.begin(), known.end(), value) == known.end())
    throw UsageError(fmt::format("{} is '{}': this build has {}", option, value, enumerate(known)));
}

void require_amount(double value, std::string_view option) {
  if (!(value >= 0) || std::isinf(value))
    throw UsageError(fmt::format("{} is {}: it must be a number from 0 up", option, value));
}

}  // namespace

void TrainConfig::validate() const {
  require_one_of(model, models::model_names(), "--model");
  data::check_image_set_name(data, "--data");
  const data::ImageKind images = data::image_kind(data);
  models::require_fit(model, images.shape, images.classes);
  std::vector<std::string> transports = comm::transport_names();
  transports.emplace_back("auto");
  require_one_of(transport, transports, "--transport");
  require_one_of(dtype, {"float32", "float64"}, "--dtype");
  require_one_of(engine, engine::engine_names(), "--engine");
  require_one_of(convolutions, engine::convolution_choices(), "--conv");
  if (engine == "onednn" && dtype != "float32")
    throw UsageError("--engine onednn computes in float32 only: use --engine torch");
  if (sync_bn && !models::has_batch_norm(model))
    throw UsageError(fmt::format("model {} has no batch norm: leave out --sync-bn", model));
  require_possible_method();
  parse_mistake(mistake);
  if (workers < 1 || workers > 1024)
    throw UsageError(fmt::format("--workers is {}: it must be from 1 to 1024", workers));
  require_possible_shards();
  if (threads < 0) throw UsageError(fmt::format("--threads is {}: it must be 0 or more", threads));
  if (epochs == 0 && iterations == 0)
    throw UsageError("--epochs is 0 and there is no --iterations: there would be nothing to train");
  if (batch < static_cast<std::size_t>(workers))
    throw UsageError(fmt::format(
        "--batch is {}, less than the {} workers that share it: some would never have an image",
        batch, workers));
  require_amount(learning_rate, "--lr");
  require_amount(momentum, "--momentum");
  require_amount(weight_decay, "--weight-decay");
  if (nesterov && momentum == 0)
    throw UsageError("--nesterov needs a --momentum above 0: 0.9 is usual");
  require_possible_recipe();
  require_amount(slow_data, "--slow-data");
  Slowdown::parse(slow);
  if (loader_threads < 0 || loader_threads > 256)
    throw UsageError(
        fmt::format("--loader-threads is {}: it must be from 0 to 256", loader_threads));
  if ((resume || checkpoint_every > 0) && run_dir.empty())
    throw UsageError("checkpoints are kept in the run folder: name it with --run-dir");
  if ((resume || checkpoint_every > 0) && parts_workers(parse_mistake(mistake)))
    throw UsageError(fmt::format(
        "--mistake {} gives every worker weights of its own, and a checkpoint has those of one",
        mistake));
  if (keep_checkpoints == 0)
    throw UsageError("--keep-checkpoints is 0: at least the newest must be kept");
  require_one_of(checkpoint_errors, {"stop", "continue"}, "--checkpoint-errors");
  if (restarts < 0)
    throw UsageError(fmt::format("--restarts is {}: it must be 0 or more", restarts));
  if (restarts > 0 && transport == "thread")
    throw UsageError(
        "--restarts is for workers that can die alone: those of --transport thread are one process "
        "with what would start them again");
  if (!(first_bucket_mb > 0) || !(bucket_mb > 0))
    throw UsageError("--bucket-mb and --first-bucket-mb must be more than 0");
  require_possible_control();
  require_possible_elastic();
}

void TrainConfig::require_possible_elastic() const {
  if (!elastic) {
    if (min_workers != 1) throw UsageError("--min-workers is for --elastic: leave it out");
    if (hang_timeout != 60) throw UsageError("--hang-timeout is for --elastic: leave it out");
    return;
  }
  if (min_workers < 1 || min_workers > workers)
    throw UsageError(fmt::format("--min-workers is {}: it must be from 1 to the {} workers",
                                 min_workers, workers));
  if (!(hang_timeout >= 1 && hang_timeout <= 1e6))
    throw UsageError(
        fmt::format("--hang-timeout is {}: it must be from 1 second to 1000000", hang_timeout));
  if (shards == 0)
    throw UsageError(
        "--elastic needs --shards: they are what the workers that are left take over, so that the "
        "run computes what it would have. As many as workers will do");
  const std::string sync = method().sync;
  const bool mpi = transport == "mpi" || transport == "shm+mpi";
  const std::string why =
      sync == "sharded"  ? "--sync sharded keeps each part of the optimizer's state on one worker"
      : sync == "server" ? "--sync server keeps the weights on the workers that serve"
      : sync_bn          ? "--sync-bn needs a worker for every shard"
      : transport == "thread" ? "workers of --transport thread are one process, and die together"
      : mpi ? fmt::format("--transport {} is MPI's, which ends all ranks when one dies", transport)
      : sync::order_of_its_own(method()).empty()
          ? ""
          : fmt::format("--algorithm {} adds in an order that depends on the workers",
                        name_of(method().algorithm));
  if (!why.empty())
    throw UsageError(
        fmt::format("--elastic goes on without a worker, and {}: leave out one of them", why));
}

void TrainConfig::require_possible_control() const {
  control.validate(epochs);
  const std::string sync = method().sync;
  const bool apart = sync == "local-sgd" || (sync == "server" && staleness);
  if (control.check_every && apart)
    throw UsageError(fmt::format(
        "--check-every expects the same weights on all workers, which {} lets differ on purpose: "
        "leave out one of them",
        sync == "server" ? "--staleness" : "--sync local-sgd"));
  if (!control.balance) return;
  const std::string_view why = shards > 0            ? "--shards fixes each shard's images"
                               : sync == "local-sgd" ? "--sync local-sgd averages weights"
                               : apart            ? "with --staleness nobody waits for the slowest"
                               : !mistake.empty() ? "--mistake is made with even shares"
                                                  : "";
  if (!why.empty())
    throw UsageError(fmt::format(
        "--balance weighs gradients by the images of each worker, and {}: leave out one of them",
        why));
}

sync::Method TrainConfig::method() const {
  sync::Method parsed = sync::parse_method(sync, algorithm);
  if (!compress.empty()) parsed.method += "+" + compress;
  return parsed;
}

void TrainConfig::require_possible_method() const {
  const std::string sync = method().sync;
  sync::require_sense(method_options(), std::max(1, workers));
  if (!compress.empty() && sync != "ddp")
    throw UsageError(fmt::format(
        "--compress is for the buckets of ddp: --sync {} has none to compress", this->sync));
  const bool averages = sync::averages_gradients(sync);
  if (!mistake.empty() && !averages)
    throw UsageError(
        fmt::format("--mistake is about averaging gradients: leave it out with --sync {}", sync));
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
        "leave there: use ddp",
        sync));
  if (sync == "local-sgd") return;
  if (recipe.no_decay_bn_bias)
    throw UsageError(fmt::format(
        "--no-decay-bn-bias needs to know whole tensors, and --sync {} cuts them: use ddp", sync));
  const bool fits = recipe.optimizer == "sgd" ||
                    (sync == "sharded" && recipe.optimizer != "lars" && recipe.optimizer != "lamb");
  if (!fits)
    throw UsageError(fmt::format(
        "--optimizer {} does not go with --sync {}, which has {}: use ddp", recipe.optimizer, sync,
        sync == "sharded" ? "sgd, adam and adamw, since it cuts tensors" : "sgd only"));
}

void TrainConfig::require_possible_shards() const {
  sync::require_shards(shards, workers);
  if (shards == 0) return;
  if (batch < static_cast<std::size_t>(shards))
    throw UsageError(fmt::format(
        "--batch is {}, less than the {} shards that share it: some would never have an image",
        batch, shards));
  if (sync_bn && shards > workers)
    throw UsageError(fmt::format(
        "--sync-bn normalises by all shards at once, but {} workers run {} shards one after "
        "another: use as many workers as shards, or leave out --sync-bn",
        workers, shards));
  if (!mistake.empty())
    throw UsageError("--mistake is about workers: leave out --shards, or the mistake");
}

void TrainConfig::require_possible_recipe() const {
  recipe.validate();
  if (momentum > 0 && !optim::has_momentum(recipe.optimizer))
    throw UsageError(fmt::format("--momentum is for --optimizer sgd and lars: {} has --beta1",
                                 recipe.optimizer));
  if (epochs > 0 && recipe.warmup >= static_cast<double>(epochs))
    throw UsageError(fmt::format(
        "--warmup is {} epochs: it must be shorter than the training, from 0 to below {} epochs",
        recipe.warmup, epochs));
  if (recipe.zero_gamma && !models::has_residual_blocks(model))
    throw UsageError(fmt::format("model {} has no residual blocks: leave out --zero-gamma", model));
  if (recipe.zero_gamma && !init.empty())
    throw UsageError("--init says what batch norm starts with: leave out --zero-gamma");
  if (recipe.accumulate > 1 && sync_bn)
    throw UsageError(
        "--sync-bn normalises by the whole global batch, and --accumulate computes it in parts: "
        "leave out one of them");
}

bool TrainConfig::is_exact() const {
  const std::string sync = method().sync;
  return compress.empty() && sync != "local-sgd" && !(sync == "server" && staleness);
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

namespace {

nlohmann::json job_json(const TrainConfig& config) {
  const sync::Method method = config.method();
  return {{"format", 1},
          {"model", config.model},
          {"data", config.data},
          {"data_dir", config.data_dir.string()},
          {"limit", config.limit},
          {"workers", config.workers},
          {"threads", config.threads_per_worker()},
          {"loader_threads", config.loader_threads},
          {"transport", config.transport},
          {"engine", config.engine},
          {"conv", config.convolution_choice()},
          {"conv_methods", config.methods},
          {"method", method.method},
          {"sync", method.sync},
          {"algorithm", name_of(method.algorithm)},
          {"compress", config.compress},
          {"local_steps", config.local_steps},
          {"staleness", config.staleness ? nlohmann::json(*config.staleness) : nlohmann::json()},
          {"servers", config.servers},
          {"dtype", config.dtype},
          {"batch", config.batch},
          {"epochs", config.epochs},
          {"iterations", config.iterations},
          {"lr", config.learning_rate},
          {"lr_full", config.full_rate()},
          {"momentum", config.momentum},
          {"weight_decay", config.weight_decay},
          {"nesterov", config.nesterov},
          {"seed", config.seed},
          {"shuffle", config.shuffle},
          {"augment", config.augment},
          {"sync_bn", config.sync_bn},
          {"shards", config.shards},
          {"first_bucket_mb", config.first_bucket_mb},
          {"bucket_mb", config.bucket_mb},
          {"init", config.init.string()},
          {"mistake", config.mistake},
          {"slow", config.slow},
          {"slow_data", config.slow_data},
          {"trace", config.trace},
          {"checkpoint_every", config.checkpoint_every},
          {"keep_checkpoints", config.keep_checkpoints},
          {"checkpoint_errors", config.checkpoint_errors},
          {"restarts", config.restarts},
          {"elastic", config.elastic},
          {"min_workers", config.min_workers},
          {"hang_timeout", config.hang_timeout}};
}

}  // namespace

nlohmann::json to_json(const TrainConfig& config) {
  nlohmann::json json = job_json(config);
  add_to_json(config.recipe, json);
  add_to_json(config.control, json);
  return json;
}

}  // namespace lockstep::train
