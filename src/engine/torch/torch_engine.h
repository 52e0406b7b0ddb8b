// The torch engine: forward and backward by libtorch's autograd. Supports any Classifier.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"

#include <memory>
#include <optional>
#include <string_view>

namespace lockstep::internal::engine {

struct TorchEngineOptions {
  std::string_view model = "lenet5";
  DataType type = DataType::float32;
  data::ImageShape images;     ///< shape of the images in batches
  std::uint64_t seed = 0;      ///< seed of the initial weights
  double label_smoothing = 0;  ///< label smoothing factor of the training loss, as in PyTorch
  bool zero_gamma = false;     ///< see make_seeded_model
  /// If set, batch norm is over the batches of this group's ranks: forward and backward are
  /// collectives, also with an empty batch.
  std::optional<Group> batch_norm_group = std::nullopt;
};

/// One process may have several engines on different threads. Throws UsageError for an unknown
/// model or unsupported images.
std::unique_ptr<Engine> make_torch_engine(const TorchEngineOptions& options);

/// Sets the number of threads of torch and its BLAS for one rank: for the process if ranks are
/// processes, for the calling thread if they are threads.
void use_threads(int threads);

/// For a training process: keeps the memory that torch frees at the end of a step for the next one.
/// Returning it to the kernel and allocating it again costs a few percent of a step.
void keep_freed_memory();

}  // namespace lockstep::internal::engine
