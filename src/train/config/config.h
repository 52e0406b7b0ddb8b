// TrainConfig: the options of a training run. `lockstep train` fills it in from its command line,
// and a run folder records it as config.json.
#pragma once

#include <lockstep/types.h>

#include "sync/shards.h"
#include "sync/sync_method.h"
#include "train/config/mistake.h"
#include "train/config/recipe.h"
#include "train/config/run_policy.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lockstep::internal::train {

struct TrainConfig {
  std::string model = "lenet5";
  std::string data = "mnist";
  std::filesystem::path data_dir;  ///< folder that contains the data set's folder
  std::size_t limit = 0;           ///< number of training images to use; 0 for all

  int workers = 1;
  int threads = 0;                    ///< per worker; 0 divides the cores among the workers
  int loader_threads = 0;             ///< per worker; 0 for one, or none if batches are small
  std::string transport = "shm";      ///< one of comm::transport_names(), or "auto"
  std::string engine = "auto";        ///< one of engine::engine_names()
  std::string convolutions = "auto";  ///< one of engine::convolution_choices()
  nlohmann::json methods = {};        ///< result of "auto": see engine::choose_convolutions
  std::string sync = "ddp";
  std::string algorithm = "auto";
  std::string dtype = "float32";
  std::string compress;  ///< compression of ddp's buckets: see compress::parse; empty for none
  int local_steps = 4;   ///< local-sgd: steps between two averages of the weights
  std::optional<int>
      staleness;    ///< server: largest lead over the slowest in steps; none: synchronous
  int servers = 1;  ///< server: number of ranks, from rank 0 on, that have a server

  std::size_t batch = 64;      ///< global batch: images of all workers in one step
  std::size_t epochs = 1;      ///< 0 for as many as the iterations need
  std::size_t iterations = 0;  ///< number of steps after which to stop; 0 for no limit
  double learning_rate = 0.01;
  double momentum = 0;
  double weight_decay = 0;
  bool nesterov = false;      ///< needs momentum
  Recipe recipe;              ///< optimizer, schedule, and so on
  std::uint64_t seed = 5000;  ///< seed of the initial weights and of the order of the images
  bool shuffle = true;
  std::string split = "sampler";  ///< where a worker's images come from: or "array"
  bool augment = false;           ///< random crops and flips of the training images
  bool sync_bn = false;  ///< batch norm over the whole global batch, not each worker's slice
  int shards = 0;        ///< logical ranks that make results independent of `workers`; 0 for none

  double first_bucket_mb = 1;
  double bucket_mb = 25;

  std::filesystem::path init;     ///< start from these weights (safetensors)
  std::filesystem::path save;     ///< write the final weights here (safetensors)
  std::filesystem::path run_dir;  ///< write the run folder here; empty for none

  std::string mistake;   ///< deliberate mistake, one of mistake_names(); empty for none
  std::string slow;      ///< "1:20": a deliberate delay of 20 ms per iteration on rank 1
  double slow_data = 0;  ///< deliberate delay of loading a batch, in milliseconds

  std::size_t trace = 10;      ///< iterations in the run folder's trace; 0 for no trace
  bool tensorboard = false;    ///< also write event files for TensorBoard
  std::string json;            ///< write the summary to this file; "-" for standard output
  std::size_t log_every = 20;  ///< print the loss every so many iterations
  bool epochs_table = false;   ///< print the results of every epoch and rank
  bool test_per_rank = false;  ///< every rank also tests its own model

  std::size_t checkpoint_every =
      0;                ///< iterations between two checkpoints; 0 for none. Needs a run folder
  bool resume = false;  ///< resume from the run folder's newest checkpoint
  std::size_t keep_checkpoints = 2;        ///< number of newest checkpoints to keep
  std::string checkpoint_errors = "stop";  ///< what to do if one cannot be written: or "continue"
  int restarts = 0;      ///< restarts from the newest checkpoint after a worker died, at most
  bool elastic = false;  ///< continue without lost workers; needs shards
  int min_workers = 1;   ///< elastic run: end it if fewer workers are left
  double hang_timeout =
      60;                  ///< elastic run: seconds until it continues without a worker that hangs
  bool restarted = false;  ///< resume if there is a checkpoint, else start from the beginning
  RunPolicy policy;        ///< early stopping, plateaus, weight checks and balancing

  std::string command;  ///< command line that the user typed, quoted for a shell; for reports

  /// Throws UsageError for invalid values, before anything is started.
  void validate() const;

  /// Its `method` includes the compression, if there is one: "ddp+float16".
  sync::Method method() const;
  /// What the method gives up for speed. Empty if updates equal those of one worker with the whole
  /// batch, except for rounding.
  std::string inexactness() const;
  sync::MethodOptions method_options() const { return {local_steps, staleness, servers, compress}; }
  /// The shards that a worker hosts.
  sync::Shards shards_of(int rank, int size) const { return sync::shards_of(shards, rank, size); }
  /// `convolutions`, but "fixed" instead of "auto" with shards, because measured choices may
  /// differ and change results.
  std::string convolution_choice() const;
  /// The learning rate after the warm-up and before a schedule lowers it, scaled by the recipe.
  double full_rate() const { return learning_rate * recipe.scale(batch); }
  DataType type() const;
  /// `threads`, or if it is 0 the worker's part of the cores; with shards 1, because the number of
  /// threads changes results.
  int threads_per_worker() const;

 private:
  void require_possible_shards() const;
  void require_possible_split() const;
  void require_possible_recipe() const;
  void require_possible_method() const;
  void require_recipe_of_shared_update(const std::string& sync) const;
  void require_possible_checkpoints() const;
  void require_possible_control() const;
  void require_possible_elastic() const;
};

/// The options as config.json has them, with `auto` and short names resolved.
nlohmann::json to_json(const TrainConfig& config);

}  // namespace lockstep::internal::train
