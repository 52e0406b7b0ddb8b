// Tester: how well a run recognises the test images, after whichever iterations it is asked.
#pragma once

#include "engine/engine.h"
#include "train/dataset.h"
#include "train/recorder.h"
#include "train/replica.h"

#include <cstddef>
#include <optional>

namespace lockstep::train {

class Tester {
 public:
  /// Both must outlive it.
  Tester(Replica& replica, const Dataset& dataset) : replica_(replica), dataset_(dataset) {}

  /// Tests what `done` iterations have taught, unless that is done already. A collective: all ranks
  /// have the same scores afterwards.
  void test(std::size_t done);

  // Of the newest test.

  double loss() const { return score_.loss_sum / static_cast<double>(score_.samples); }
  double accuracy() const {
    return static_cast<double>(score_.correct) / static_cast<double>(score_.samples);
  }

  /// What metrics are to have of the newest test; none the second time.
  std::optional<Record> take_record(double epoch, double learning_rate);

 private:
  Replica& replica_;
  const Dataset& dataset_;
  engine::Score score_;
  std::size_t tested_ = 0;  ///< iterations that it came after
  std::size_t taken_ = 0;   ///< the same of the newest record
};

}  // namespace lockstep::train
