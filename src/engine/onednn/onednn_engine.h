// The onednn engine: forward and backward by a plan of oneDNN primitives that is made once for each
// batch size. Activations, weights and gradients stay in the primitives' preferred layouts.
// Supports the models of describe.h, in float32.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace lockstep::internal::engine {

struct OnednnEngineOptions {
  std::string_view model = "lenet5";
  data::ImageShape images;     ///< shape of the images in batches
  std::uint64_t seed = 0;      ///< seed of the initial weights, the same as the torch engine's
  double label_smoothing = 0;  ///< label smoothing factor of the training loss, as in PyTorch
  bool zero_gamma = false;     ///< see make_seeded_model
  /// Images in a usual step. Layouts of weights are chosen for it; other batches may be slower.
  std::size_t batch = 64;
  /// "fixed": Winograd for convolutions of suitable shape; "direct": no Winograd; "auto": the
  /// fastest here with such batches and this thread's number of threads, measured unless `methods`
  /// is given.
  std::string_view convolutions = "fixed";
  nlohmann::json methods = {};  ///< the result of choose_convolutions(); for "auto" only
  /// If set, batch norm is over the batches of this group's ranks: forward and backward are
  /// collectives, also with an empty batch.
  std::optional<Group> batch_norm_group = std::nullopt;
};

/// The methods that "auto" chooses for each convolution, as an object by layer name: from the
/// cache, or measured now. Engines that must give the same bits all need the same object. Calls
/// `notice` if it takes noticeable time, or if the result could not be saved. Throws UsageError as
/// make_onednn_engine does.
nlohmann::json choose_convolutions(const OnednnEngineOptions& options,
                                   const std::function<void(const std::string&)>& notice);

/// Whether this is a valid result of choose_convolutions().
bool are_convolution_methods(const nlohmann::json& methods);

/// Whether this build has the engine.
bool has_onednn_engine();

/// One process may have several engines on different threads. Throws UsageError for an unknown
/// model, unsupported images or an unsupported layer.
std::unique_ptr<Engine> make_onednn_engine(const OnednnEngineOptions& options);

}  // namespace lockstep::internal::engine
