// EpochPolicy: tests the model after an epoch and decides whether the run stops early and whether
// its learning rate is lowered.
#pragma once

#include "train/policy/early_stop.h"
#include "train/policy/plateau.h"
#include "train/policy/tester.h"

#include <cstddef>
#include <string>

namespace lockstep::internal::train {

/// Its decisions are the same on all ranks.
class EpochPolicy {
 public:
  /// The tester must outlive it.
  EpochPolicy(const RunPolicy& policy, Tester& tester)
      : early_stop_(policy), plateau_(policy), tester_(tester) {}

  /// Tests the model after `done` iterations. Returns whether the learning rate is lower from now
  /// on. A collective.
  bool after_epoch(std::size_t epoch, std::size_t done);

  /// Why training stops early; empty to continue.
  const std::string& stop_reason() const { return stop_reason_; }

  /// The factor of the schedule's learning rate, 0 to 1.
  double rate_factor() const { return plateau_.factor(); }

  /// The state that a checkpoint keeps.
  CheckpointMetadata state() const;
  void restore(const CheckpointMetadata& metadata);

 private:
  EarlyStop early_stop_;
  Plateau plateau_;
  Tester& tester_;
  std::string stop_reason_;
};

}  // namespace lockstep::internal::train
