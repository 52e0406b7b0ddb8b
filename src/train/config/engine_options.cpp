#include "train/config/engine_options.h"

#include "data/sampler.h"

namespace lockstep::internal::train {

engine::EngineOptions engine_options(const TrainConfig& config, const data::ImageShape& images,
                                     int shards) {
  const std::size_t share = data::slice_of(config.batch, 0, shards).size();
  return {.engine = config.engine,
          .convolutions = config.convolution_choice(),
          .methods = config.methods,
          .model = config.model,
          .type = config.type(),
          .images = images,
          .batch = data::slice_of(share, 0, config.recipe.accumulate).size(),
          .seed = config.seed,
          .label_smoothing = config.recipe.label_smoothing,
          .zero_gamma = config.recipe.zero_gamma};
}

}  // namespace lockstep::internal::train
