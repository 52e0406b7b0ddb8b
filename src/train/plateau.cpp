#include "train/plateau.h"

#include <fmt/format.h>

namespace lockstep::train {

namespace {

constexpr const char* kShare = "plateau_share";
constexpr const char* kBestLoss = "plateau_best_test_loss";
constexpr const char* kEpochsSince = "plateau_epochs_since";

}  // namespace

bool Plateau::after_epoch(double loss) {
  if (!control_.plateau) return false;
  if (loss < best_loss_) {
    best_loss_ = loss;
    epochs_since_ = 0;
    return false;
  }
  if (++epochs_since_ < static_cast<std::size_t>(*control_.plateau)) return false;
  share_ *= control_.plateau_factor;
  epochs_since_ = 0;
  return true;
}

Notes Plateau::state() const {
  if (!control_.plateau) return {};
  return {{kShare, fmt::format("{}", share_)},
          {kBestLoss, fmt::format("{}", best_loss_)},
          {kEpochsSince, fmt::format("{}", epochs_since_)}};
}

void Plateau::restore(const Notes& notes) {
  const auto share = number_at<double>(notes, kShare);
  const auto loss = number_at<double>(notes, kBestLoss);
  const auto epochs = number_at<std::size_t>(notes, kEpochsSince);
  if (!share || !loss || !epochs || !(*share > 0 && *share <= 1)) return;
  share_ = *share;
  best_loss_ = *loss;
  epochs_since_ = *epochs;
}

}  // namespace lockstep::train
