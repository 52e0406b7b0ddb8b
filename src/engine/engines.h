// Engines: how training code gets its engine without linking one. The command passes
// engine::built_in_engines() (make_engine.h); a test or a simulator may pass other engines.
#pragma once

#include <lockstep/group.h>

#include "engine/engine.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::engine {

struct EngineOptions {
  std::string engine = "auto";         ///< one of engine_names()
  std::string convolutions = "fixed";  ///< one of convolution_choices(); for the onednn engine
  nlohmann::json methods = {};         ///< a result of choose_convolutions(); for "auto" only
  std::string model = "lenet5";
  DataType type = DataType::float32;
  data::ImageShape images;     ///< shape of every image
  std::size_t batch = 64;      ///< images that one rank computes in a usual step
  std::uint64_t seed = 0;      ///< for the initial weights
  double label_smoothing = 0;  ///< label smoothing factor of the training loss, 0 to 1
  bool zero_gamma = false;     ///< see make_seeded_model
  /// If set, batch norm computes its statistics over the batches of all ranks of this group.
  std::optional<Group> batch_norm_group = std::nullopt;
};

/// "auto" and the engines that this build has.
std::vector<std::string> engine_names();

/// How the onednn engine may choose the algorithm of a convolution.
std::vector<std::string> convolution_choices();

struct MadeEngine {
  std::unique_ptr<Engine> engine;
  std::string notice;  ///< why auto did not take onednn; empty if it did, or was not asked
};

/// Receives messages for the user.
using Notice = std::function<void(const std::string&)>;

/// Any thread may call it.
class Engines {
 public:
  virtual ~Engines() = default;

  /// Throws UsageError if the engine that `options` names cannot compute what they ask for. `auto`
  /// takes onednn where it can, and torch elsewhere.
  virtual MadeEngine make(const EngineOptions& options) const = 0;

  /// How "auto" computes each convolution, as an object by layer name; null if the engine does not
  /// choose. The choice is measured, so ranks would choose differently: one rank chooses for all.
  /// May take seconds. `notice` reports that, and a result that could not be cached.
  virtual nlohmann::json choose_convolutions(const EngineOptions& options,
                                             const Notice& notice) const = 0;

  /// Whether `methods`, read from a file, has the form of a result of choose_convolutions().
  virtual bool are_convolution_methods(const nlohmann::json& methods) const = 0;

  /// Versions of the libraries that compute, by name: see library_versions.h.
  virtual std::map<std::string, std::string> library_versions() const = 0;

  /// Sets the number of threads that one rank computes with: for the process if ranks are
  /// processes, for the calling thread if ranks are threads.
  virtual void use_threads(int threads) const = 0;

  /// Keeps freed memory in the process for the next step, which needs as much again.
  virtual void keep_freed_memory() const = 0;
};

}  // namespace lockstep::internal::engine
