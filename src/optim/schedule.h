// Schedule: the learning rate of each step, a pure function of the step's number. A resumed run
// therefore continues with the same rates.
//
// A shape defines the factor of the full rate at each step. It is written NAME or NAME:NUMBERS;
// numbers are epochs (fractions are allowed) or factors of the full rate:
//   constant                the full rate
//   step:EVERY[,FACTOR]     times FACTOR (0.1) every EVERY epochs
//   multi-step:A+B+…[,FACTOR]   times FACTOR (0.1) after A, after B … epochs
//   cosine[:END]            half a cosine from the full rate to END (0) of it
//   polynomial[:POWER[,END]]    (1 − progress) to the power of POWER (1), down to END (0)
//   cyclic:HALF[,LOW]       linear from LOW (0.1) up to the full rate in HALF epochs, and back
//   one-cycle[:PEAK]        up from 1/25 until PEAK (0.3) of training, then down to 4 in a million
// step and multi-step count epochs from the start. The other shapes begin when the warm-up ends,
// which is linear up to their first rate.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::optim {

/// A parsed shape, for example of "step:30,0.1".
struct Shape {
  std::string name = "constant";
  std::vector<double> epochs = {};  ///< step: one; multi-step: all, ascending; cyclic: half a cycle
  double number = 0;                ///< FACTOR, END, LOW or PEAK, depending on the name
  double power = 1;                 ///< POWER of polynomial

  /// Whether the rate depends on the length of the whole training.
  bool spans_training() const;
};

/// Throws UsageError with the fault in the text and the valid forms.
Shape parse_shape(std::string_view text);

/// The forms of all shapes, for messages and help.
const std::vector<std::string>& shape_forms();

struct TrainingLength {
  std::size_t steps = 1;            ///< steps of the whole training
  std::size_t steps_per_epoch = 1;  ///< converts epochs to steps
  double warmup = 0;                ///< epochs of linear warm-up; 0 for none
};

class Schedule {
 public:
  /// Throws UsageError unless the warm-up is shorter than the training. REQUIRES: the full rate and
  /// the warm-up are 0 or more.
  Schedule(double full_rate, Shape shape, const TrainingLength& length);

  /// The rate of a step, counted from 0. After the last step of training the final rate stays.
  double rate(std::size_t step) const;

 private:
  double factor(std::size_t step) const;
  std::size_t steps_in(double epochs) const;

  double full_rate_;
  Shape shape_;
  TrainingLength length_;
  std::size_t warmup_ = 0;  ///< in steps
};

/// The rules by which the learning rate grows with the batch: "none", "linear" or "sqrt".
const std::vector<std::string>& scaling_names();

/// The factor for a rate that was chosen for `usual_batch`. Throws UsageError for an unknown rule.
double rate_scale(std::string_view scaling, std::size_t batch, std::size_t usual_batch);

}  // namespace lockstep::internal::optim
