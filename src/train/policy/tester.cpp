#include "train/policy/tester.h"

#include <utility>

namespace lockstep::internal::train {

void Tester::test(std::size_t done) {
  if (tested_ == done) return;
  score_ = replica_.evaluate(dataset_.test, dataset_.test_size);
  tested_ = done;
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
