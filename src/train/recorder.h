// Recorder: what every rank measured in every iteration, brought together on rank 0.
#pragma once

#include <lockstep/group.h>

#include "observe/times.h"

#include <functional>
#include <span>
#include <vector>

namespace lockstep::train {

/// One rank's iteration. All doubles, because records travel between ranks as an array of them.
struct Record {
  double epoch = 0;      ///< from 1
  double iteration = 0;  ///< from 1, over the whole run
  double loss_sum = 0;   ///< over this rank's samples
  double correct = 0;
  double samples = 0;
  double lr = 0;
  double bytes = 0;       ///< moved, as Counters counts
  double operations = 0;  ///< collectives and messages
  observe::Times times;
};

class Recorder {
 public:
  /// Called on rank 0 with each rank's new records.
  using Sink = std::function<void(int rank, std::span<const Record>)>;

  Recorder(Group group, Sink sink) : group_(std::move(group)), sink_(std::move(sink)) {}

  /// About once a second the records go to rank 0, so that little is lost with a run that is
  /// killed: then it is a collective. REQUIRES: all ranks call it equally often.
  void add(const Record& record);

  /// Sends the records since the last call to rank 0. A collective; all ranks must have equally
  /// many.
  void flush();

 private:
  Group group_;
  Sink sink_;
  std::vector<Record> records_;
  std::size_t left_ = 1;  ///< records until the next flush: the same on all ranks
  double slowest_ = 0;    ///< of this rank's iterations since the last one
};

}  // namespace lockstep::train
