#include "train/convolution_choice.h"

#include <lockstep/error.h>

#include "run/fields.h"
#include "sync/broadcast_text.h"
#include "sync/on_rank_zero.h"
#include "train/config/engine_options.h"

namespace lockstep::internal::train {

namespace {

/// The choice in the run folder's config.json; null if it has no valid one.
nlohmann::json recorded_methods(const engine::Engines& engines,
                                const std::filesystem::path& run_dir) {
  try {
    const nlohmann::json config = run::read_fields(run_dir / "config.json").json();
    if (!config.contains("conv_methods")) return {};
    const nlohmann::json& methods = config["conv_methods"];
    return engines.are_convolution_methods(methods) ? methods : nlohmann::json();
  } catch (const FileError&) {
    return {};
  }
}

/// Called on rank 0.
nlohmann::json choose(const engine::Engines& engines, const TrainConfig& config,
                      const engine::EngineOptions& options, Progress& progress) {
  if (config.resume)
    if (nlohmann::json recorded = recorded_methods(engines, config.run_dir); !recorded.is_null())
      return recorded;
  engines.use_threads(config.threads_per_worker());  // on_rank_zero() runs this in a new thread
  return engines.choose_convolutions(options,
                                     [&](const std::string& text) { progress.notice(text); });
}

}  // namespace

TrainConfig with_convolution_choice(Group& group, const engine::Engines& engines,
                                    const TrainConfig& config, const data::ImageShape& images,
                                    Progress& progress) {
  TrainConfig chosen = config;
  if (config.engine == "torch" || config.convolution_choice() != "auto") return chosen;
  std::string text;
  const engine::EngineOptions options =
      engine_options(config, images, config.shards_of(group.rank(), group.size()).all);
  sync::on_rank_zero(group, [&] { text = choose(engines, config, options, progress).dump(); });
  sync::broadcast_text(group, text);
  chosen.methods = nlohmann::json::parse(text);
  return chosen;
}

}  // namespace lockstep::internal::train
