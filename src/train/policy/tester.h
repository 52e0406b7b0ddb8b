// Tester: scores of the model on the test images.
#pragma once

#include "engine/engine.h"
#include "run/record.h"
#include "train/config/dataset.h"
#include "train/replica.h"

#include <cstddef>
#include <optional>

namespace lockstep::internal::train {

class Tester {
 public:
  /// Replica and data set must outlive the tester.
  Tester(Replica& replica, const Dataset& dataset) : replica_(replica), dataset_(dataset) {}

  /// Tests the model after `done` iterations, unless it was tested after them already. A
  /// collective; all ranks get the same scores.
  void test(std::size_t done);

  /// Mean loss and accuracy (0 to 1) of the newest test.
  double loss() const { return score_.loss_sum / static_cast<double>(score_.samples); }
  double accuracy() const {
    return static_cast<double>(score_.correct) / static_cast<double>(score_.samples);
  }

  /// The newest test as a line of metrics.jsonl; none if it was taken already.
  std::optional<run::Record> take_record(double epoch, double learning_rate);

 private:
  Replica& replica_;
  const Dataset& dataset_;
  engine::Score score_;
  std::size_t tested_ = 0;  ///< iterations before the newest test
  std::size_t taken_ = 0;   ///< iterations before the newest test that was taken
};

}  // namespace lockstep::internal::train
