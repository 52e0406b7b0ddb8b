#include "train/engine_options.h"

#include "data/sampler.h"

namespace lockstep::train {

engine::EngineOptions engine_options(const TrainConfig& config, const data::ImageShape& images,
                                     int ranks) {
  return {.engine = config.engine,
          .convolutions = config.convolutions,
          .methods = config.methods,
          .model = config.model,
          .type = config.type(),
          .images = images,
          .batch = data::share(config.batch, 0, ranks).size(),
          .seed = config.seed,
          .sync_batch_norm = config.sync_bn};
}

}  // namespace lockstep::train
