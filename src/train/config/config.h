// TrainConfig: all that defines a training run. It is what `lockstep train` makes of its options,
// and what a run folder keeps as config.json.
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
  std::filesystem::path data_dir;  ///< the folder that holds the data set's folder
  std::size_t limit = 0;           ///< use the first so many training images; 0 for all

  int workers = 1;
  int threads = 0;                    ///< a worker; 0 shares out the cores, at least 1 each
  int loader_threads = 0;             ///< a worker; 0 for one, or none where batches are small
  std::string transport = "shm";      ///< one of comm::transport_names(), or "auto"
  std::string engine = "auto";        ///< one of engine::engine_names()
  std::string convolutions = "auto";  ///< one of engine::convolution_choices()
  nlohmann::json methods = {};        ///< what "auto" came to: see engine::choose_convolutions
  std::string sync = "ddp";
  std::string algorithm = "auto";
  std::string dtype = "float32";
  std::string compress;          ///< of ddp's buckets: see compress::parse; empty for not at all
  int local_steps = 4;           ///< of local-sgd: steps between two averages of the weights
  std::optional<int> staleness;  ///< of server: steps ahead of the slowest; none: synchronous
  int servers = 1;               ///< of server: the first so many ranks have one each

  std::size_t batch = 64;      ///< the global batch: all workers' images of one step
  std::size_t epochs = 1;      ///< 0 for as many as the iterations need
  std::size_t iterations = 0;  ///< stop after so many steps; 0 for no limit
  double learning_rate = 0.01;
  double momentum = 0;
  double weight_decay = 0;
  bool nesterov = false;      ///< needs momentum
  Recipe recipe;              ///< all else of how it learns
  std::uint64_t seed = 5000;  ///< of the initial weights and of the order of the images
  bool shuffle = true;
  bool augment = false;  ///< random crops and flips of the training images
  bool sync_bn = false;  ///< batch norm over the whole global batch, not each worker's share
  int shards = 0;        ///< logical ranks, so that results do not depend on `workers`; 0 for none

  double first_bucket_mb = 1;
  double bucket_mb = 25;

  std::filesystem::path init;     ///< start from these weights (safetensors)
  std::filesystem::path save;     ///< write the final weights here (safetensors)
  std::filesystem::path run_dir;  ///< write the run folder here; empty for none

  std::string mistake;   ///< one of mistake_names(), made on purpose; empty for none
  std::string slow;      ///< "1:20": rank 1 is slower by 20 ms an iteration, on purpose
  double slow_data = 0;  ///< milliseconds that loading a batch takes longer, on purpose

  std::size_t trace = 10;      ///< iterations that the run folder's trace has; 0 for no trace
  bool tensorboard = false;    ///< also write event files for TensorBoard
  std::string json;            ///< write the summary to this file; "-" for standard output
  std::size_t log_every = 20;  ///< print the loss every so many iterations

  std::size_t checkpoint_every = 0;        ///< iterations; 0 for none. Needs a run folder
  bool resume = false;                     ///< go on from the run folder's newest checkpoint
  std::size_t keep_checkpoints = 2;        ///< the newest so many: should one be damaged
  std::string checkpoint_errors = "stop";  ///< or "continue", if one cannot be written
  int restarts = 0;  ///< how often the run goes on from its newest checkpoint after a worker died
  bool elastic = false;      ///< go on without workers that are lost; needs shards
  int min_workers = 1;       ///< of an elastic run: end it if fewer are left
  double hang_timeout = 60;  ///< seconds after which an elastic run goes on without who hangs
  bool restarted = false;    ///< resume if there is a checkpoint, else start anew
  RunPolicy policy;          ///< when to stop early, and what is checked on the way

  std::string command;  ///< what the user typed, for a shell; only kept for who reads of the run

  /// Throws UsageError for values that make no sense, before anything is started.
  void validate() const;

  /// Its name has the compression, if there is one: "ddp+float16".
  sync::Method method() const;
  /// Whether its updates are those of one worker with the whole batch, but for rounding.
  bool is_exact() const;
  sync::MethodOptions method_options() const { return {local_steps, staleness, servers, compress}; }
  /// Those that a worker hosts.
  sync::Shards shards_of(int rank, int size) const { return sync::shards_of(shards, rank, size); }
  /// `convolutions`; with shards the fixed rule takes the place of measuring, which changes
  /// results.
  std::string convolution_choice() const;
  /// The learning rate after the warm-up, before a schedule lowers it: with the recipe's scaling.
  double full_rate() const { return learning_rate * recipe.scale(batch); }
  DataType type() const;
  /// Threads of each worker, after sharing out the cores; one with shards, since their number
  /// changes results.
  int threads_per_worker() const;

 private:
  void require_possible_shards() const;
  void require_possible_recipe() const;
  void require_possible_method() const;
  void require_recipe_of_shared_update(const std::string& sync) const;
  void require_possible_checkpoints() const;
  void require_possible_control() const;
  void require_possible_elastic() const;
};

/// What config.json has of the options; `auto` and short names are resolved.
nlohmann::json to_json(const TrainConfig& config);

}  // namespace lockstep::internal::train
