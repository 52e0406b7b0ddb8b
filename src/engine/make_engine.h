// Engines by name.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace lockstep::engine {

struct EngineOptions {
  std::string engine = "auto";         ///< one of engine_names()
  std::string convolutions = "fixed";  ///< one of convolution_choices(); of the onednn engine
  nlohmann::json methods = {};         ///< what choose_convolutions() said; for "auto" only
  std::string model = "lenet5";
  DataType type = DataType::float32;
  data::ImageShape images;     ///< of the batches to come
  std::size_t batch = 64;      ///< images of one rank in a usual step
  std::uint64_t seed = 0;      ///< for the initial weights
  double label_smoothing = 0;  ///< of training's loss
  bool zero_gamma = false;     ///< see make_seeded_model
  /// Where there is one, batch norm is over its ranks' batches.
  std::optional<Group> batch_norm_group = std::nullopt;
};

/// "auto", and those that this build has.
std::vector<std::string> engine_names();

/// How the onednn engine may choose between ways to compute a convolution.
std::vector<std::string> convolution_choices();

/// How "auto" computes each convolution, as an object by the layers' names; null where the engine
/// does not choose. All ranks of a run must be given what one of them was told, since the time that
/// a computation takes is never the same twice. May take seconds; tells `notice` of that, and of
/// what could not be kept for the next time.
nlohmann::json choose_convolutions(const EngineOptions& options,
                                   const std::function<void(const std::string&)>& notice);

struct MadeEngine {
  std::unique_ptr<Engine> engine;
  std::string notice;  ///< why auto did not take onednn; empty if it did, or was not asked
};

/// Throws UsageError for what the engine that was asked for cannot do. `auto` takes onednn where it
/// can do what is asked, and torch elsewhere.
MadeEngine make_engine(const EngineOptions& options);

}  // namespace lockstep::engine
