// Engines by name.
#pragma once

#include "engine/engine.h"

#include <memory>
#include <string>

namespace lockstep::engine {

struct EngineOptions {
  std::string engine = "auto";         ///< one of engine_names()
  std::string convolutions = "fixed";  ///< one of convolution_choices(); of the onednn engine
  std::string model = "lenet5";
  DataType type = DataType::float32;
  data::ImageShape images;  ///< of the batches to come
  std::size_t batch = 64;   ///< images of one rank in a usual step
  std::uint64_t seed = 0;   ///< for the initial weights
};

/// "auto", and those that this build has.
std::vector<std::string> engine_names();

/// How the onednn engine may choose between ways to compute a convolution.
std::vector<std::string> convolution_choices();

struct MadeEngine {
  std::unique_ptr<Engine> engine;
  std::string notice;  ///< why auto did not take onednn; empty if it did, or was not asked
};

/// Throws UsageError for what the engine that was asked for cannot do. `auto` takes onednn where it
/// can do what is asked, and torch elsewhere.
MadeEngine make_engine(const EngineOptions& options);

}  // namespace lockstep::engine
