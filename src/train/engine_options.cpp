#include "train/engine_options.h"

#include "data/sampler.h"

namespace lockstep::train {

engine::EngineOptions engine_options(const TrainConfig& config, const data::ImageShape& images,
                                     int shards) {
  return {.engine = config.engine,
          .convolutions = config.convolution_choice(),
          .methods = config.methods,
          .model = config.model,
          .type = config.type(),
          .images = images,
          .batch = data::share(config.batch, 0, shards).size(),
          .seed = config.seed,
          .sync_batch_norm = config.sync_bn};
}

}  // namespace lockstep::train
