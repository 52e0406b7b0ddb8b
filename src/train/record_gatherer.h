// RecordGatherer: gathers the records of all ranks on rank 0.
#pragma once

#include <lockstep/group.h>

#include "run/record.h"

#include <functional>
#include <span>
#include <vector>

namespace lockstep::internal::train {

/// Sets the waiting of the ranks in one iteration: each waited, as part of its exposed time, until
/// the last one had its gradients.
void set_waiting(std::span<run::Record* const> ranks);

class RecordGatherer {
 public:
  /// Called on rank 0 with each rank's new records.
  using Sink = std::function<void(int rank, std::span<const run::Record>)>;

  /// `synchronous`: no rank begins a step before all have ended the one before, so that the last
  /// one is waited for.
  RecordGatherer(Group group, bool synchronous, Sink sink)
      : group_(std::move(group)), synchronous_(synchronous), sink_(std::move(sink)) {}

  /// Adds the record of an iteration. About once a second it calls flush(), so that a run that is
  /// killed loses little. A collective then. REQUIRES: all ranks call it equally often.
  void add(const run::Record& record);

  /// Sends the records since the last call to rank 0. A collective. REQUIRES: all ranks have
  /// equally many.
  void flush();

 private:
  Group group_;
  const bool synchronous_;
  Sink sink_;
  double met_ = 0;  ///< when all ranks left the last flush; 0 before the first iteration
  std::vector<run::Record> records_;
  std::size_t left_ = 1;  ///< records until the next flush: the same on all ranks
  double slowest_ = 0;    ///< seconds of this rank's slowest iteration since the last flush
};

}  // namespace lockstep::internal::train
