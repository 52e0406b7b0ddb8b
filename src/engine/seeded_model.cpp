#include "engine/seeded_model.h"

#include "base/thread_annotations.h"
#include "models/model.h"
#include "models/resnet.h"

namespace lockstep::internal::engine {

namespace {

void empty_blocks(const torch::nn::Module& model) {
  torch::NoGradGuard no_grad;
  for (const auto& module : model.modules())
    if (const auto* block = module->as<models::BasicBlockImpl>()) block->bn2->weight.zero_();
}

}  // namespace

std::shared_ptr<models::Classifier> make_seeded_model(std::string_view model, DataType type,
                                                      const data::ImageShape& images,
                                                      std::uint64_t seed, bool zero_gamma) {
  models::require_fit(model, images);
  // Torch draws initial weights from one generator per process: ranks that are threads take turns.
  static Mutex drawing;
  const Lock lock(drawing);
  torch::manual_seed(seed);
  auto made = models::make_model(model, type);
  if (zero_gamma) empty_blocks(*made);
  return made;
}

}  // namespace lockstep::internal::engine
