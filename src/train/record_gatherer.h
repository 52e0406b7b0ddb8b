// RecordGatherer: gathers the records of all ranks on rank 0.
#pragma once

#include <lockstep/group.h>

#include "run/record.h"

#include <functional>
#include <span>
#include <vector>

namespace lockstep::internal::train {

class RecordGatherer {
 public:
  /// Called on rank 0 with each rank's new records.
  using Sink = std::function<void(int rank, std::span<const run::Record>)>;

  RecordGatherer(Group group, Sink sink) : group_(std::move(group)), sink_(std::move(sink)) {}

  /// Adds the record of an iteration. About once a second it calls flush(), so that a run that is
  /// killed loses little. A collective then. REQUIRES: all ranks call it equally often.
  void add(const run::Record& record);

  /// Sends the records since the last call to rank 0. A collective. REQUIRES: all ranks have
  /// equally many.
  void flush();

 private:
  Group group_;
  Sink sink_;
  std::vector<run::Record> records_;
  std::size_t left_ = 1;  ///< records until the next flush: the same on all ranks
  double slowest_ = 0;    ///< seconds of this rank's slowest iteration since the last flush
};

}  // namespace lockstep::internal::train
