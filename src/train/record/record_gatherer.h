// RecordGatherer: gathers the records of all ranks on rank 0.
#pragma once

#include <lockstep/group.h>

#include "run/record.h"

#include <deque>
#include <functional>
#include <span>
#include <vector>

namespace lockstep::internal::train {

/// Adds the waiting of the ranks in one iteration: each waited, as part of its exposed time, until
/// `last`.
void add_waiting(std::span<run::Record* const> ranks, double last);

/// When the last rank had its gradients.
double last_arrival(std::span<run::Record* const> ranks);

class RecordGatherer {
 public:
  /// Called on rank 0 with each rank's new records.
  using Sink = std::function<void(int rank, std::span<const run::Record>)>;

  /// `lead`: how many steps a rank may be ahead of the slowest before it waits for it.
  RecordGatherer(Group group, int lead, Sink sink)
      : group_(std::move(group)), lead_(static_cast<std::size_t>(lead)), sink_(std::move(sink)) {}

  /// Adds the record of an iteration. About once a second it calls flush(), so that a run that is
  /// killed loses little. A collective then. REQUIRES: all ranks call it equally often.
  void add(const run::Record& record);

  /// Sends the records since the last call to rank 0. A collective. REQUIRES: all ranks have
  /// equally many.
  void flush();

 private:
  Group group_;
  const std::size_t lead_;
  Sink sink_;
  std::deque<double> arrivals_;  ///< on rank 0: the last arrival in each of the newest iterations
  std::vector<run::Record> records_;
  std::size_t left_ = 1;  ///< records until the next flush: the same on all ranks
  double slowest_ = 0;    ///< seconds of this rank's slowest iteration since the last flush
};

}  // namespace lockstep::internal::train
