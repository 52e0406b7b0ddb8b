// The torch engine: forward and backward by libtorch's autograd. Takes any Classifier.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"

#include <memory>
#include <optional>
#include <string_view>

namespace lockstep::engine {

struct TorchEngineOptions {
  std::string_view model = "lenet5";
  DataType type = DataType::float32;
  data::ImageShape images;     ///< of the batches to come
  std::uint64_t seed = 0;      ///< for the initial weights
  double label_smoothing = 0;  ///< of training's loss, as PyTorch defines it
  bool zero_gamma = false;     ///< see make_seeded_model
  /// Where there is one, batch norm is over the batches of this group's ranks: forward and backward
  /// are collectives, also with an empty batch.
  std::optional<Group> batch_norm_group = std::nullopt;
};

/// Several may live in one process, on threads of their own. Throws UsageError for a model that is
/// not known or does not take such images.
std::unique_ptr<Engine> make_torch_engine(const TorchEngineOptions& options);

/// How many threads torch and its BLAS may use for one rank: for the process if ranks are
/// processes, for the calling thread if they are threads.
void use_threads(int threads);

/// For a process that trains: what torch frees at the end of a step is kept for the next one, which
/// needs as much. Giving it back to the kernel and getting it again costs a few percent of a step.
void keep_freed_memory();

}  // namespace lockstep::engine
