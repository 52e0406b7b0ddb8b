// EpochJudge: the test after an epoch, and what follows from it: whether the run has learnt enough,
// and how fast it goes on.
#pragma once

#include "train/early_stop.h"
#include "train/plateau.h"
#include "train/tester.h"

#include <cstddef>
#include <string>

namespace lockstep::train {

/// The same on all ranks.
class EpochJudge {
 public:
  /// Both must outlive it.
  EpochJudge(const Control& control, Tester& tester)
      : early_stop_(control), plateau_(control), tester_(tester) {}

  /// Tests what `done` iterations have taught. Returns whether the learning rate is lower from now
  /// on. A collective.
  bool after_epoch(std::size_t epoch, std::size_t done);

  /// Why there is to be no more training; empty if there is.
  const std::string& enough() const { return enough_; }

  /// Of the schedule's learning rate.
  double share() const { return plateau_.share(); }

  /// What it remembers from epoch to epoch.
  Notes notes() const;
  void restore(const Notes& notes);

 private:
  EarlyStop early_stop_;
  Plateau plateau_;
  Tester& tester_;
  std::string enough_;
};

}  // namespace lockstep::train
