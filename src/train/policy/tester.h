// Tester: scores of the model on the test images.
#pragma once

#include "engine/engine.h"
#include "run/record.h"
#include "run/summary.h"
#include "train/config/dataset.h"
#include "train/replica.h"

#include <cstddef>
#include <optional>

namespace lockstep::internal::train {

class Tester {
 public:
  /// Replica and data set must outlive the tester. `each_rank`: every rank tests its own model too.
  Tester(Replica& replica, const Dataset& dataset, bool each_rank)
      : replica_(replica), dataset_(dataset), each_rank_(each_rank) {}

  /// Tests the model after `done` iterations, unless it was tested after them already. A
  /// collective; all ranks get the same scores.
  void test(std::size_t done);
  /// The part of test() that tests this rank's own model on all test images, if that is wanted.
  /// Call it before anything else that gives all ranks the same weights. Not a collective.
  void test_own(std::size_t done);

  /// The newest test.
  run::TestResults results() const { return results_of(score_); }
  /// The newest test of this rank's own model; no images if it was not tested.
  const engine::Score& own_score() const { return own_score_; }

  static run::TestResults results_of(const engine::Score& score);

  /// The newest test as a line of metrics.jsonl; none if it was taken already.
  std::optional<run::Record> take_record(double epoch, double learning_rate);

 private:
  Replica& replica_;
  const Dataset& dataset_;
  const bool each_rank_;
  engine::Score score_;
  engine::Score own_score_;
  std::size_t own_tested_ = 0;  ///< iterations before that test
  std::size_t tested_ = 0;      ///< iterations before the newest test
  std::size_t taken_ = 0;       ///< iterations before the newest test that was taken
};

}  // namespace lockstep::internal::train
