#include "train/policy/plateau.h"

#include <fmt/format.h>

namespace lockstep::internal::train {

namespace {

constexpr const char* kFactor = "plateau_share";
constexpr const char* kPlateauLoss = "plateau_best_test_loss";
constexpr const char* kPlateauEpochs = "plateau_epochs_since";

}  // namespace

bool Plateau::after_epoch(double loss) {
  if (!policy_.plateau) return false;
  if (loss < best_loss_) {
    best_loss_ = loss;
    epochs_since_ = 0;
    return false;
  }
  if (++epochs_since_ < static_cast<std::size_t>(*policy_.plateau)) return false;
  factor_ *= policy_.plateau_factor;
  epochs_since_ = 0;
  return true;
}

CheckpointMetadata Plateau::state() const {
  if (!policy_.plateau) return {};
  return {{kFactor, fmt::format("{}", factor_)},
          {kPlateauLoss, fmt::format("{}", best_loss_)},
          {kPlateauEpochs, fmt::format("{}", epochs_since_)}};
}

void Plateau::restore(const CheckpointMetadata& metadata) {
  const auto factor = number_at<double>(metadata, kFactor);
  const auto loss = number_at<double>(metadata, kPlateauLoss);
  const auto epochs = number_at<std::size_t>(metadata, kPlateauEpochs);
  if (!factor || !loss || !epochs || !(*factor > 0 && *factor <= 1)) return;
  factor_ = *factor;
  best_loss_ = *loss;
  epochs_since_ = *epochs;
}

}  // namespace lockstep::internal::train
