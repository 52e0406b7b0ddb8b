// The onednn engine: forward and backward by a plan of oneDNN's primitives that is made once for
// each batch size. Activations, weights and gradients stay in the layouts that the primitives like
// best. Takes the models that describe.h knows, in float32.
#pragma once

#include "engine/engine.h"

#include <memory>
#include <string_view>

namespace lockstep::engine {

struct OnednnEngineOptions {
  std::string_view model = "lenet5";
  data::ImageShape images;  ///< of the batches to come
  std::uint64_t seed = 0;   ///< for the initial weights, which are the torch engine's
  /// Images of a usual step. Layouts of weights are chosen for it; other batches may cost more.
  std::size_t batch = 64;
  /// "fixed": Winograd's method for convolutions whose shape suits it; "direct": none.
  std::string_view convolutions = "fixed";
};

/// Whether this build has the engine.
bool has_onednn_engine();

/// Several may live in one process, on threads of their own. Throws UsageError for a model that is
/// not known, does not take such images or has a layer that no plan can hold.
std::unique_ptr<Engine> make_onednn_engine(const OnednnEngineOptions& options);

}  // namespace lockstep::engine
