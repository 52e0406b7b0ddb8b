// Schedule: the learning rate of each step, a pure function of the step's number. So a run that
// goes on from a checkpoint goes on with the rate it would have had.
//
// A shape says which share of the full rate a step has. It is written NAME or NAME:NUMBERS; numbers
// are epochs (fractions are fine) or shares of the full rate:
//   constant                the full rate
//   step:EVERY[,FACTOR]     times FACTOR (0.1) every EVERY epochs
//   multi-step:A+B+…[,FACTOR]   times FACTOR (0.1) after A, after B … epochs
//   cosine[:END]            half a cosine from the full rate to END (0) of it
//   polynomial[:POWER[,END]]    what is left of training to the power of POWER (1), down to END (0)
//   cyclic:HALF[,LOW]       straight from LOW (0.1) up to the full rate in HALF epochs, and back
//   one-cycle[:PEAK]        up from 1/25 until PEAK (0.3) of training, then down to 4 in a million
// step and multi-step count epochs from the start; the others begin when the warm-up ends, which
// goes straight up to where they begin.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::optim {

/// What a text like "step:30,0.1" says.
struct Shape {
  std::string name = "constant";
  std::vector<double> epochs = {};  ///< step: one; multi-step: all, ascending; cyclic: half a cycle
  double number = 0;                ///< FACTOR, END, LOW or PEAK, as the name has it
  double power = 1;                 ///< of polynomial

  /// Whether the rate depends on how long the whole training is.
  bool spans_training() const;
};

/// Throws UsageError that says what is wrong with the text and how it is written.
Shape parse_shape(std::string_view text);

/// How every shape is written, for messages and help.
const std::vector<std::string>& shape_forms();

struct Course {
  std::size_t steps = 1;            ///< of the whole training
  std::size_t steps_per_epoch = 1;  ///< to turn epochs into steps
  double warmup = 0;                ///< epochs of a straight ascent; 0 for none
};

class Schedule {
 public:
  /// Throws UsageError where the warm-up is not shorter than the training. REQUIRES: a full rate, a
  /// warm-up of 0 or more.
  Schedule(double full_rate, Shape shape, const Course& course);

  /// Of a step, counted from 0. After the last step of the course the shape's end stays.
  double rate(std::size_t step) const;

 private:
  double share(std::size_t step) const;
  std::size_t steps_in(double epochs) const;

  double full_rate_;
  Shape shape_;
  Course course_;
  std::size_t warmup_ = 0;  ///< steps
};

/// How the learning rate grows with the batch: "none", "linear" or "sqrt".
const std::vector<std::string>& scaling_names();

/// What a rate that suits `usual_batch` is multiplied by. Throws UsageError for an unknown name.
double rate_scale(std::string_view scaling, std::size_t batch, std::size_t usual_batch);

}  // namespace lockstep::optim
