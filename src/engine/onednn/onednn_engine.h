// The onednn engine: forward and backward by a plan of oneDNN's primitives that is made once for
// each batch size. Activations, weights and gradients stay in the layouts that the primitives like
// best. Takes the models that describe.h knows, in float32.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace lockstep::engine {

struct OnednnEngineOptions {
  std::string_view model = "lenet5";
  data::ImageShape images;     ///< of the batches to come
  std::uint64_t seed = 0;      ///< for the initial weights, which are the torch engine's
  double label_smoothing = 0;  ///< of training's loss, as PyTorch defines it
  bool zero_gamma = false;     ///< see make_seeded_model
  /// Images of a usual step. Layouts of weights are chosen for it; other batches may cost more.
  std::size_t batch = 64;
  /// "fixed": Winograd's method for convolutions whose shape suits it; "direct": none; "auto": what
  /// is fastest here, with such batches and this thread's threads, which is measured unless
  /// `methods` has it.
  std::string_view convolutions = "fixed";
  nlohmann::json methods = {};  ///< what choose_convolutions() said; for "auto" only
  /// Where there is one, batch norm is over the batches of this group's ranks: forward and backward
  /// are collectives, also with an empty batch.
  std::optional<Group> batch_norm_group = std::nullopt;
};

/// How "auto" computes each convolution of the model, as an object by the layers' names: as it was
/// measured before, or measured now. Engines that are to do the same arithmetic are all given the
/// same. Tells `notice` what takes noticeable time, or could not be kept. Throws UsageError as
/// make_onednn_engine does.
nlohmann::json choose_convolutions(const OnednnEngineOptions& options,
                                   const std::function<void(const std::string&)>& notice);

/// Whether it is such an object, from wherever it comes.
bool are_convolution_methods(const nlohmann::json& methods);

/// Whether this build has the engine.
bool has_onednn_engine();

/// Several may live in one process, on threads of their own. Throws UsageError for a model that is
/// not known, does not take such images or has a layer that no plan can hold.
std::unique_ptr<Engine> make_onednn_engine(const OnednnEngineOptions& options);

}  // namespace lockstep::engine
