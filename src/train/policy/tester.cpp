#include "train/policy/tester.h"

#include <utility>

namespace lockstep::internal::train {

void Tester::test(std::size_t done) {
  if (tested_ == done) return;
  test_own(done);
  score_ = replica_.evaluate(dataset_.test, dataset_.test_size);
  tested_ = done;
}

void Tester::test_own(std::size_t done) {
  if (!each_rank_ || own_tested_ == done) return;
  own_score_ = replica_.evaluate_alone(dataset_.test, dataset_.test_size);
  own_tested_ = done;
}

run::TestResults Tester::results_of(const engine::Score& score) {
  const auto images = static_cast<double>(score.samples);
  return {.test_loss = score.loss_sum / images,
          .test_accuracy = static_cast<double>(score.correct) / images,
          .test_correct = score.correct,
          .test_images = score.samples};
}

std::optional<run::Record> Tester::take_record(double epoch, double learning_rate) {
  if (std::exchange(taken_, tested_) == tested_) return std::nullopt;
  return run::Record{.epoch = epoch,
                     .iteration = static_cast<double>(tested_),
                     .loss_sum = score_.loss_sum,
                     .correct = static_cast<double>(score_.correct),
                     .samples = static_cast<double>(score_.samples),
                     .lr = learning_rate,
                     .bytes = 0,
                     .times = {}};
}

}  // namespace lockstep::internal::train
