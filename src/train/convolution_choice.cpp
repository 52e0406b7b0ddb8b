#include "train/convolution_choice.h"

#include "base/files.h"
#include "engine/onednn/onednn_engine.h"
#include "engine/torch/torch_engine.h"
#include "sync/share_text.h"
#include "train/engine_options.h"
#include "train/while_others_wait.h"

namespace lockstep::train {

namespace {

/// What the run's folder says of it; null if it says nothing that can be used.
nlohmann::json recorded_methods(const std::filesystem::path& run_dir) {
  try {
    const auto config = nlohmann::json::parse(read_file(run_dir / "config.json", 1 << 24), nullptr,
                                              /*allow_exceptions=*/false);
    if (!config.is_object() || !config.contains("conv_methods")) return {};
    const nlohmann::json& methods = config["conv_methods"];
    return engine::are_convolution_methods(methods) ? methods : nlohmann::json();
  } catch (const FileError&) {
    return {};
  }
}

/// On rank 0.
nlohmann::json choose(const TrainConfig& config, const engine::EngineOptions& options,
                      Progress& progress) {
  if (config.resume)
    if (nlohmann::json recorded = recorded_methods(config.run_dir); !recorded.is_null())
      return recorded;
  engine::use_threads(config.threads_per_worker());  // this may be a thread of its own
  return engine::choose_convolutions(options,
                                     [&](const std::string& text) { progress.notice(text); });
}

}  // namespace

TrainConfig with_convolution_choice(Group& group, const TrainConfig& config,
                                    const data::ImageShape& images, Progress& progress) {
  TrainConfig chosen = config;
  if (config.engine == "torch" || config.convolution_choice() != "auto") return chosen;
  std::string text;
  const engine::EngineOptions options =
      engine_options(config, images, config.shards_of(group.rank(), group.size()).all);
  while_others_wait(group, [&] { text = choose(config, options, progress).dump(); });
  sync::share_text(group, text);
  chosen.methods = nlohmann::json::parse(text);
  return chosen;
}

}  // namespace lockstep::train
