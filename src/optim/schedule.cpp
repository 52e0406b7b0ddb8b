#include "optim/schedule.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace lockstep::internal::optim {

namespace {

/// Half a cosine from `from` to `to`, at fraction `done`.
double cosine_between(double from, double to, double done) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * done)) / 2;
}

/// As in PyTorch, the peak is reached one step before fraction `peak` of all steps.
double one_cycle(double peak, double step, double steps) {
  constexpr double kStart = 1.0 / 25;
  constexpr double kEnd = kStart / 10'000;
  const double top = std::max(0.0, peak * steps - 1);
  if (step < top) return cosine_between(kStart, 1, step / top);
  const double fall = steps - 1 - top;
  return fall > 0 ? cosine_between(1, kEnd, (step - top) / fall) : 1;
}

/// Linear from `low` to 1 in `half` steps, and back.
double triangle(double low, std::size_t step, std::size_t half) {
  const std::size_t place = step % (2 * half);
  const std::size_t height = place <= half ? place : 2 * half - place;
  return low + (1 - low) * static_cast<double>(height) / static_cast<double>(half);
}

}  // namespace

Schedule::Schedule(double full_rate, Shape shape, const TrainingLength& length)
    : full_rate_(full_rate), shape_(std::move(shape)), length_(length) {
  if (length.warmup > 0) warmup_ = steps_in(length.warmup);
  if (warmup_ > 0 && warmup_ >= length.steps)
    throw UsageError(fmt::format(
        "--warmup is {} epochs, which are {} steps: it must be shorter than the training of {}",
        length.warmup, warmup_, length.steps));
}

std::size_t Schedule::steps_in(double epochs) const {
  const double steps = std::round(epochs * static_cast<double>(length_.steps_per_epoch));
  constexpr double kMost = 1e15;
  return static_cast<std::size_t>(std::clamp(steps, 1.0, kMost));
}

double Schedule::rate(std::size_t step) const {
  const double rate = full_rate_ * factor(step);
  if (step >= warmup_) return rate;
  return rate * static_cast<double>(step + 1) / static_cast<double>(warmup_);
}

double Schedule::factor(std::size_t step) const {
  const std::string& name = shape_.name;
  if (name == "constant") return 1;
  if (name == "step")
    return std::pow(shape_.number, static_cast<double>(step / steps_in(shape_.epochs[0])));
  if (name == "multi-step") {
    const auto passed = std::count_if(shape_.epochs.begin(), shape_.epochs.end(),
                                      [&](double epochs) { return step >= steps_in(epochs); });
    return std::pow(shape_.number, static_cast<double>(passed));
  }
  const std::size_t steps = length_.steps - warmup_;
  const std::size_t place = step < warmup_ ? 0 : step - warmup_;
  if (name == "cyclic") return triangle(shape_.number, place, steps_in(shape_.epochs[0]));
  const auto all = static_cast<double>(steps);
  const auto done = static_cast<double>(std::min(place, steps));
  if (name == "cosine") return cosine_between(1, shape_.number, done / all);
  if (name == "one-cycle") return one_cycle(shape_.number, std::min(done, all - 1), all);
  return shape_.number + (1 - shape_.number) * std::pow(1 - done / all, shape_.power);
}

const std::vector<std::string>& scaling_names() {
  static const std::vector<std::string> names{"none", "linear", "sqrt"};
  return names;
}

double rate_scale(std::string_view scaling, std::size_t batch, std::size_t usual_batch) {
  const double ratio = static_cast<double>(batch) / static_cast<double>(usual_batch);
  if (scaling == "none") return 1;
  if (scaling == "linear") return ratio;
  if (scaling == "sqrt") return std::sqrt(ratio);
  throw UsageError(
      fmt::format("--lr-scale is '{}': it must be one of {}", scaling, enumerate(scaling_names())));
}

}  // namespace lockstep::internal::optim
