#include "engine/make_engine.h"

#include <lockstep/error.h>

#include "engine/library_versions.h"
#include "engine/onednn/onednn_engine.h"
#include "engine/torch/torch_engine.h"

#include <fmt/format.h>

namespace lockstep::internal::engine {

namespace {

std::unique_ptr<Engine> make_torch(const EngineOptions& options) {
  return make_torch_engine({.model = options.model,
                            .type = options.type,
                            .images = options.images,
                            .seed = options.seed,
                            .label_smoothing = options.label_smoothing,
                            .zero_gamma = options.zero_gamma,
                            .batch_norm_group = options.batch_norm_group});
}

OnednnEngineOptions onednn_options(const EngineOptions& options) {
  if (options.type != DataType::float32)
    throw UsageError("the onednn engine computes in float32 only: use --engine torch");
  return {.model = options.model,
          .images = options.images,
          .seed = options.seed,
          .label_smoothing = options.label_smoothing,
          .zero_gamma = options.zero_gamma,
          .batch = options.batch,
          .convolutions = options.convolutions,
          .methods = options.methods,
          .batch_norm_group = options.batch_norm_group};
}

std::unique_ptr<Engine> make_onednn(const EngineOptions& options) {
  return make_onednn_engine(onednn_options(options));
}

class BuiltInEngines : public Engines {
 public:
  MadeEngine make(const EngineOptions& options) const override { return make_engine(options); }
  nlohmann::json choose_convolutions(const EngineOptions& options,
                                     const Notice& notice) const override {
    return engine::choose_convolutions(options, notice);
  }
  bool are_convolution_methods(const nlohmann::json& methods) const override {
    return engine::are_convolution_methods(methods);
  }
  std::map<std::string, std::string> library_versions() const override {
    return engine::library_versions();
  }
  void use_threads(int threads) const override { engine::use_threads(threads); }
  void keep_freed_memory() const override { engine::keep_freed_memory(); }
};

}  // namespace

const Engines& built_in_engines() {
  static const BuiltInEngines engines;
  return engines;
}

nlohmann::json choose_convolutions(const EngineOptions& options, const Notice& notice) {
  if (options.engine == "torch" || options.convolutions != "auto" || !has_onednn_engine())
    return {};
  try {
    return choose_convolutions(onednn_options(options), notice);
  } catch (const UsageError&) {
    return {};  // make_engine reports why there is no such engine
  }
}

MadeEngine make_engine(const EngineOptions& options) {
  if (options.engine == "torch") return {make_torch(options), {}};
  if (options.engine == "onednn") return {make_onednn(options), {}};
  try {
    return {make_onednn(options), {}};
  } catch (const UsageError& error) {
    // A model or images that no engine supports: torch reports the error.
    return {make_torch(options), fmt::format("engine torch: {}", error.what())};
  }
}

}  // namespace lockstep::internal::engine
