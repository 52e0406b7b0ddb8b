#include "engine/seeded_model.h"

#include "models/model.h"

#include <mutex>

namespace lockstep::engine {

std::shared_ptr<models::Classifier> make_seeded_model(std::string_view model, DataType type,
                                                      const data::ImageShape& images,
                                                      std::uint64_t seed) {
  models::require_fit(model, images);
  // Torch draws initial weights from one generator a process; ranks that are threads must take
  // turns.
  static std::mutex drawing;
  std::lock_guard lock(drawing);
  torch::manual_seed(seed);
  return models::make_model(model, type);
}

}  // namespace lockstep::engine
