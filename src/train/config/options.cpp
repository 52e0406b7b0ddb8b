#include "train/config/options.h"

#include "comm/transports.h"
#include "data/image_set.h"
#include "engine/engines.h"
#include "models/model_names.h"
#include "optim/optimizers.h"
#include "optim/schedule.h"
#include "sync/sync_method.h"

#include <fmt/format.h>

#include <iterator>

namespace lockstep::internal::train {

namespace {

using namespace run;

constexpr const char *kData = "Model and data", *kWorkers = "Workers", *kEngine = "Engine",
                     *kSync = "Synchronisation", *kOptimizer = "Optimizer",
                     *kRate = "Learning rate", *kControl = "Run control",
                     *kFaults = "Checkpoints and lost workers", *kOutput = "Output",
                     *kStudy = "Deliberate faults";

const std::vector<std::string> kMoments{"adam", "adamw", "lamb"};  // the optimizers that have them

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> transports() {
  std::vector<std::string> names = comm::transport_names();
  names.emplace_back("auto");
  return names;
}

// The table: an option is a line or two.
// clang-format off

Options job_options(TrainConfig& c) {
  return {
      {.name = "--model", .field = &c.model, .group = kData, .choices = models::model_names(),
       .identity = true,
       .help = "network to train"},
      {.name = "--data", .field = &c.data, .group = kData, .identity = true,
       .help = "data set: mnist, cifar10, or synthetic[:SHAPE,…]"},
      // A host may keep its data anywhere: the images themselves are compared.
      {.name = "--data-dir", .field = &c.data_dir, .group = kData, .same = SameOnRanks::no,
       .help = "folder of the data; default: the data that ship with Lockstep"},
      {.name = "--limit", .field = &c.limit, .group = kData, .identity = true,
       .help = "use the first N training images; 0 for all"},
      {.name = "--batch", .field = &c.batch, .group = kData, .range = at_least(1),
       .commands = kTrain | kCompare, .identity = true,
       .help = "global batch size: images of all workers in one step"},
      {.name = "--iterations", .field = &c.iterations, .group = kData,
       .resolved_from = {"--epochs"},
       .help = "stop after N steps; 0 for no limit"},
      {.name = "--epochs", .field = &c.epochs, .group = kData,
       .help = "passes over the training images; 0: as many as --iterations needs, the default "
               "if only --iterations is given"},
      {.name = "--no-shuffle", .field = &c.shuffle, .group = kData, .clears = true,
       .identity = true,
       .help = "use the images in the order of the file"},
      {.name = "--split", .field = &c.split, .group = kData, .choices = {"sampler", "array"},
       .commands = kTrain, .identity = true,
       .help = "sampler: every batch is drawn from all images; array: each worker keeps a fixed "
               "part of them, as numpy.array_split cuts it"},
      {.name = "--augment", .field = &c.augment, .group = kData, .identity = true,
       .help = "random crops (4 pixels) and flips of the training images"},
      {.name = "--seed", .field = &c.seed, .group = kData, .identity = true,
       .help = "seed of the initial weights and of the order of the images"},
      {.name = "--init", .field = &c.init, .group = kData, .same = SameOnRanks::whether_given,
       .help = "start from the weights in this file (safetensors)"},

      {.name = "--workers", .field = &c.workers, .group = kWorkers, .range = between(1, 1024),
       .commands = kTrain | kCompare, .forwarded = false,
       .help = "number of workers"},
      {.name = "--shards", .field = &c.shards, .group = kWorkers, .identity = true,
       .help = "logical workers, a power of two: any number of workers up to it gives the same "
               "bits; 0: results depend on the number of workers"},
      {.name = "--threads", .field = &c.threads, .group = kWorkers, .range = at_least(0),
       .resolved_from = {"--workers", "--shards"}, .same = SameOnRanks::with_shards,
       .help = "threads per worker; 0 divides the cores among the workers"},
      {.name = "--loader-threads", .field = &c.loader_threads, .group = kWorkers,
       .range = between(0, 256), .same = SameOnRanks::no,
       .help = "threads per worker that load images ahead; 0: one, or none for small batches"},
      {.name = "--transport", .field = &c.transport, .group = kWorkers, .choices = transports(),
       .help = "how ranks exchange data; every transport but thread runs workers as processes"},

      {.name = "--engine", .field = &c.engine, .group = kEngine, .choices = engine::engine_names(),
       .help = "library that computes forward and backward"},
      {.name = "--conv", .field = &c.convolutions, .group = kEngine,
       .choices = engine::convolution_choices(), .resolved_from = {"--shards"},
       .help = "convolutions of the onednn engine: auto measures once which methods are fastest on "
               "this machine, fixed follows a rule on shapes"},
      {.name = "--dtype", .field = &c.dtype, .group = kEngine, .choices = {"float32", "float64"},
       .identity = true,
       .help = "type of weights and images; float64 needs the torch engine"},
      {.name = "--sync-bn", .field = &c.sync_bn, .group = kEngine, .identity = true,
       .help = "batch norm over the whole global batch, as with one worker"},

      {.name = "--sync", .field = &c.sync, .group = kSync, .commands = kTrain | kScale,
       .help = "sync method: " + joined(sync::method_names())},
      {.name = "--algorithm", .field = &c.algorithm, .group = kSync,
       .resolved_from = {"--sync", "--methods"},
       .help = "all-reduce algorithm: auto, star, tree, ring, halving-doubling, direct, "
               "hierarchical, native"},
      {.name = "--compress", .field = &c.compress, .group = kSync, .identity = true,
       .help = "compress ddp's buckets: float16, bfloat16, topk:FRACTION, powersgd:RANK or sign; "
               "the last three with error feedback"},
      {.name = "--local-steps", .field = &c.local_steps, .group = kSync, .range = at_least(1),
       .identity = true,
       .help = "local-sgd: steps between two averages of the weights"},
      {.name = "--staleness", .field = &c.staleness, .group = kSync, .range = at_least(1),
       .help = "server: asynchronous updates, with workers at most N steps ahead of the slowest; "
               "default: synchronous"},
      {.name = "--servers", .field = &c.servers, .group = kSync, .range = at_least(1),
       .help = "server: spread the weights over the first N workers"},
      {.name = "--first-bucket-mb", .field = &c.first_bucket_mb, .group = kSync, .range = above(0),
       .help = "size of ddp's first bucket in MiB"},
      {.name = "--bucket-mb", .field = &c.bucket_mb, .group = kSync, .range = above(0),
       .help = "size of ddp's other buckets in MiB"},
  };
}

Options recipe_options(TrainConfig& c) {
  Recipe& r = c.recipe;
  return {
      {.name = "--optimizer", .field = &r.optimizer, .group = kOptimizer,
       .choices = optim::optimizer_names(), .identity = true,
       .help = "optimizer"},
      {.name = "--momentum", .field = &c.momentum, .group = kOptimizer,
       .range = from_to_below(0, 1), .identity = true,
       .help = "momentum of sgd and lars"},
      {.name = "--nesterov", .field = &c.nesterov, .group = kOptimizer, .identity = true,
       .help = "Nesterov's form of momentum, as in PyTorch"},
      {.name = "--weight-decay", .field = &c.weight_decay, .group = kOptimizer,
       .range = at_least(0), .identity = true,
       .help = "weight decay"},
      {.name = "--no-decay-bn-bias", .field = &r.no_decay_bn_bias, .group = kOptimizer,
       .identity = true,
       .help = "no weight decay for batch norm and biases; lars and lamb do not scale their rate "
               "either"},
      {.name = "--beta1", .field = &r.beta1, .group = kOptimizer, .range = from_to_below(0, 1),
       .identity = true, .only_with = {"--optimizer", kMoments},
       .help = "decay rate of the first moment"},
      {.name = "--beta2", .field = &r.beta2, .group = kOptimizer, .range = from_to_below(0, 1),
       .identity = true, .only_with = {"--optimizer", kMoments},
       .help = "decay rate of the second moment"},
      {.name = "--epsilon", .field = &r.epsilon, .group = kOptimizer, .range = above(0),
       .identity = true, .only_with = {"--optimizer", kMoments},
       .help = "added to the denominator for numerical stability"},
      {.name = "--trust", .field = &r.trust, .group = kOptimizer, .range = above(0),
       .identity = true, .only_with = {"--optimizer", {"lars"}},
       .help = "trust coefficient"},
      {.name = "--clip", .field = &r.clip, .group = kOptimizer, .range = at_least(0),
       .identity = true,
       .help = "clip gradients to this norm, over all parameters; 0: do not clip"},
      {.name = "--clip-value", .field = &r.clip_value, .group = kOptimizer, .range = at_least(0),
       .identity = true,
       .help = "clip every element of the gradients; 0: do not clip"},
      {.name = "--label-smoothing", .field = &r.label_smoothing, .group = kOptimizer,
       .range = from_to_below(0, 1), .identity = true,
       .help = "label smoothing factor"},
      {.name = "--zero-gamma", .field = &r.zero_gamma, .group = kOptimizer, .identity = true,
       .help = "initialise the last batch norm of every residual block with weights of 0"},
      {.name = "--accumulate", .field = &r.accumulate, .group = kOptimizer,
       .range = between(1, 65536), .identity = true,
       .help = "gradient accumulation: each worker computes its slice of a batch in N parts, to "
               "save memory"},

      {.name = "--lr", .field = &c.learning_rate, .group = kRate, .range = at_least(0),
       .identity = true,
       .help = "learning rate"},
      {.name = "--schedule", .field = &r.schedule, .group = kRate, .identity = true,
       .help = "learning rate over time: " + joined(optim::shape_forms()) +
               "; EVERY, EPOCH and HALF are epochs, the rest fractions of the full rate"},
      {.name = "--warmup", .field = &r.warmup, .group = kRate, .range = at_least(0),
       .identity = true,
       .help = "epochs in which the learning rate rises to its full value"},
      {.name = "--lr-scale", .field = &r.lr_scale, .group = kRate,
       .choices = optim::scaling_names(), .identity = true,
       .help = "how the learning rate grows with --batch"},
      {.name = "--lr-batch", .field = &r.lr_batch, .group = kRate, .range = at_least(1),
       .identity = true,
       .help = "batch size that --lr is for; with --lr-scale"},
  };
}

Options run_options(TrainConfig& c) {
  RunPolicy& p = c.policy;
  return {
      {.name = "--stop-at-accuracy", .field = &p.stop_at_accuracy, .group = kControl,
       .range = {.low = 0, .high = 1, .without_low = true, .note = "0.98 is 98 %"},
       .commands = kTrain,
       .help = "test after every epoch, and stop at this test accuracy: 0.98 is 98 %"},
      {.name = "--patience", .field = &p.patience, .group = kControl, .range = at_least(1),
       .unit = "epochs", .commands = kTrain,
       .help = "test after every epoch, and stop after N epochs without a lower test loss"},
      {.name = "--plateau", .field = &p.plateau, .group = kControl, .range = at_least(1),
       .unit = "epochs", .commands = kTrain,
       .help = "test after every epoch, and lower the learning rate after N epochs without a "
               "lower test loss"},
      {.name = "--plateau-factor", .field = &p.plateau_factor, .group = kControl,
       .range = {.low = 0, .high = 1, .without_low = true, .without_high = true},
       .commands = kTrain,
       .help = "what --plateau multiplies the learning rate by"},
      {.name = "--check-every", .field = &p.check_every, .group = kControl, .range = at_least(1),
       .unit = "steps", .commands = kTrain,
       .help = "compare the weights of all workers every N steps; they must be the same bits"},
      {.name = "--balance", .field = &p.balance, .group = kControl, .commands = kTrain,
       .help = "divide the global batch by the speed of the workers, which is measured during "
               "training"},

      {.name = "--test-per-rank", .field = &c.test_per_rank, .group = kControl,
       .commands = kTrain | kCompare,
       .help = "every worker also tests its own weights and batch-norm statistics on all test "
               "images"},

      {.name = "--checkpoint-every", .field = &c.checkpoint_every, .group = kFaults,
       .commands = kTrain,
       .help = "write a checkpoint to the run folder every N iterations; 0 for none"},
      {.name = "--keep-checkpoints", .field = &c.keep_checkpoints, .group = kFaults,
       .range = at_least(1), .commands = kTrain,
       .help = "keep the N newest checkpoints"},
      {.name = "--checkpoint-errors", .field = &c.checkpoint_errors, .group = kFaults,
       .choices = {"stop", "continue"}, .commands = kTrain,
       .help = "what to do when a checkpoint cannot be written, on a full disk for example"},
      {.name = "--resume", .field = &c.resume, .group = kFaults, .commands = kTrain,
       .recorded = false, .same = SameOnRanks::at_start,
       .help = "resume from the newest checkpoint of --run-dir"},
      // Restarts are counted by the process that starts the workers.
      {.name = "--restarts", .field = &c.restarts, .group = kFaults, .range = at_least(0),
       .commands = kTrain, .forwarded = false, .same = SameOnRanks::no,
       .help = "when a worker dies, restart all from the newest checkpoint, up to N times"},
      {.name = "--elastic", .field = &c.elastic, .group = kFaults, .commands = kTrain,
       .forwarded = false,
       .help = "when a worker dies, the others take over its shards and continue; needs --shards"},
      {.name = "--min-workers", .field = &c.min_workers, .group = kFaults, .commands = kTrain,
       .forwarded = false,
       .help = "end an --elastic run, with a checkpoint, when fewer workers are left"},
      {.name = "--hang-timeout", .field = &c.hang_timeout, .group = kFaults,
       .range = between(1, 1000000), .commands = kTrain, .forwarded = false,
       .help = "seconds after which an --elastic run continues without a worker that hangs"},

      {.name = "--run-dir", .field = &c.run_dir, .group = kOutput, .recorded = false,
       .same = SameOnRanks::whether_given,
       .help = "folder that records the run; default: a new one below runs/"},
      {.name = "--save", .field = &c.save, .group = kOutput, .commands = kTrain, .recorded = false,
       .same = SameOnRanks::whether_given,
       .help = "write the final weights to this file (safetensors)"},
      {.name = "--trace", .field = &c.trace, .group = kOutput,
       .help = "iterations that trace.json of the run shows; 0 for no trace"},
      {.name = "--log-every", .field = &c.log_every, .group = kOutput, .recorded = false,
       .same = SameOnRanks::no,
       .help = "print the loss every N iterations: the mean over rank 0's images of that step; "
               "compare and scale print none unless it is given"},
      {.name = "--epochs-table", .field = &c.epochs_table, .group = kOutput, .commands = kTrain,
       .recorded = false, .forwarded = false, .same = SameOnRanks::no,
       .help = "print loss, accuracy, seconds and images/s of every epoch and worker"},
      // Rank 0 writes these two; under mpirun, the process that started mpirun.
      {.name = "--tensorboard", .field = &c.tensorboard, .group = kOutput, .recorded = false,
       .forwarded = false,
       .help = "also write event files for TensorBoard into the run folder"},
      {.name = "--json", .field = &c.json, .group = kOutput, .recorded = false, .forwarded = false,
       .same = SameOnRanks::whether_given,
       .help = "write the result to this file; - for standard output"},
      {.name = "--command", .field = &c.command, .commands = kTrain, .recorded = false,
       .same = SameOnRanks::no,
       .help = "what the user typed"},

      {.name = "--slow", .field = &c.slow, .group = kStudy,
       .help = "RANK:MS makes a straggler: this rank takes MS milliseconds longer per iteration"},
      {.name = "--slow-data", .field = &c.slow_data, .group = kStudy, .range = at_least(0),
       .help = "milliseconds by which loading a batch takes longer"},
      {.name = "--mistake", .field = &c.mistake, .group = kStudy, .choices = mistake_names(),
       .may_be_empty = true, .commands = kTrain,
       .help = "make a classic mistake of data-parallel training, to see its effect"},
  };
}

// clang-format on

std::string line_of(const Option& option) {
  const nlohmann::json value = value_of(option);
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (option.same == SameOnRanks::whether_given)
    return fmt::format("{} {}", json_key_of(option), text.empty() ? "not given" : "given");
  return fmt::format("{} {}", json_key_of(option), text.empty() ? value.dump() : text);
}

}  // namespace

run::Options options_of(TrainConfig& config) {
  Options all = job_options(config);
  for (Options part : {recipe_options(config), run_options(config)})
    std::move(part.begin(), part.end(), std::back_inserter(all));
  return all;
}

std::map<std::string, std::string> identity_of(const TrainConfig& config) {
  TrainConfig copy = config;
  std::map<std::string, std::string> identity;
  for (const Option& option : options_of(copy))
    if (option.identity) identity[option.name] = text_of(option);
  if (config.method().sync != "local-sgd") identity["--local-steps"] = "";
  // Where images belong to workers, a step has other images with another number of workers.
  if (config.split == "array") identity["--workers"] = std::to_string(config.workers);
  // Where the learning rate depends on the length of the training, that is part of it.
  if (optim::parse_shape(config.recipe.schedule).spans_training()) {
    identity["--epochs"] = std::to_string(config.epochs);
    identity["--iterations"] = std::to_string(config.iterations);
  }
  return identity;
}

std::vector<std::string> train_arguments(const TrainConfig& config) {
  TrainConfig copy = config;
  copy.threads = config.threads_per_worker();
  const Options options = options_of(copy);
  std::vector<std::string> arguments{"train"};
  for (const Option& option : options)
    if (option.forwarded && applies(option, options))
      for (std::string& word : arguments_of(option)) arguments.push_back(std::move(word));
  return arguments;
}

std::vector<std::string> lines_to_compare(const TrainConfig& config, bool at_start) {
  TrainConfig copy = config;
  copy.threads = config.threads_per_worker();
  std::vector<std::string> lines;
  for (const Option& option : options_of(copy)) {
    const bool part_of_job = option.same == SameOnRanks::value ||
                             option.same == SameOnRanks::whether_given ||
                             (option.same == SameOnRanks::with_shards && config.shards > 0);
    if (at_start ? option.same == SameOnRanks::at_start : part_of_job)
      lines.push_back(line_of(option));
  }
  if (at_start) lines.push_back(fmt::format("restarted {}", config.restarted));
  return lines;
}

}  // namespace lockstep::internal::train
