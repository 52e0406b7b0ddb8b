#include "train/policy/early_stop.h"

#include <fmt/format.h>

namespace lockstep::internal::train {

namespace {

constexpr const char* kBestLoss = "best_test_loss";
constexpr const char* kEpochsSince = "epochs_since_best_test_loss";

}  // namespace

std::string EarlyStop::after_epoch(std::size_t epoch, double loss, double accuracy) {
  epochs_since_ = loss < best_loss_ ? 0 : epochs_since_ + 1;
  if (loss < best_loss_) best_loss_ = loss;
  if (policy_.stop_at_accuracy && accuracy >= *policy_.stop_at_accuracy)
    return fmt::format(
        "after epoch {} the test accuracy is {:.2f} %, which reaches the target of {:.6g} %", epoch,
        100 * accuracy, 100 * *policy_.stop_at_accuracy);
  if (policy_.patience && epochs_since_ >= static_cast<std::size_t>(*policy_.patience))
    return fmt::format(
        "after epoch {} the test loss is {:.4f}, and was not below {:.4f} in the last {} epoch{}",
        epoch, loss, best_loss_, epochs_since_, epochs_since_ == 1 ? "" : "s");
  return "";
}

CheckpointMetadata EarlyStop::state() const {
  if (!policy_.tests_epochs()) return {};
  return {{kBestLoss, fmt::format("{}", best_loss_)},
          {kEpochsSince, fmt::format("{}", epochs_since_)}};
}

void EarlyStop::restore(const CheckpointMetadata& metadata) {
  const auto loss = number_at<double>(metadata, kBestLoss);
  const auto epochs = number_at<std::size_t>(metadata, kEpochsSince);
  if (!loss || !epochs) return;
  best_loss_ = *loss;
  epochs_since_ = *epochs;
}

}  // namespace lockstep::internal::train
