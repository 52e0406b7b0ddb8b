// ReplicatedRecorder: the records of all ranks, kept on every rank. Ranks exchange the record of an
// iteration before its update, so that the record survives the loss of any rank. Replaces
// RecordGatherer in elastic runs.
#pragma once

#include <lockstep/group.h>

#include "train/record/record_gatherer.h"

#include <cstddef>
#include <deque>
#include <vector>

namespace lockstep::internal::train {

/// The records of one iteration, by rank.
using Row = std::vector<run::Record>;

class ReplicatedRecorder {
 public:
  /// The number of newest rows that are kept: those that rank 0 may not have written yet.
  static constexpr std::size_t kRows = 3;

  /// Continues with the rows of the group before. `sink` is called on rank 0 with each rank's new
  /// records.
  ReplicatedRecorder(Group group, RecordGatherer::Sink sink, std::deque<Row> rows);

  /// Exchanges the record of the current iteration before its update, when its times are not
  /// complete, and the complete record of the iteration before. Returns whether `flag` is true on
  /// any rank. A collective; if it throws, nothing has changed.
  bool exchange(const run::Record& record, bool flag);

  /// Sets this rank's complete record of the iteration that was exchanged last.
  void complete(const run::Record& record) { mine_ = record; }

  /// Exchanges the complete record of the newest iteration now, instead of with the next one. A
  /// collective. REQUIRES: all ranks have called complete() for it.
  void flush();

  /// The rows that are kept, oldest first, of iterations up to this one.
  std::deque<Row> rows_until(std::size_t iteration) const;

 private:
  std::vector<run::Record> gather(const std::vector<run::Record>& mine);
  /// Replaces the newest row by complete records, and passes them to the sink.
  void complete_row(Row row);

  Group group_;
  const RecordGatherer::Sink sink_;
  std::deque<Row> rows_;
  run::Record mine_;      ///< this rank's complete record of the newest row
  bool complete_ = true;  ///< the newest row has complete records, and the sink has them
};

/// Rows as numbers, to send them, and back. REQUIRES: `numbers` is a result of to_numbers().
std::vector<double> to_numbers(const std::deque<Row>& rows);
std::deque<Row> rows_from(const std::vector<double>& numbers);

}  // namespace lockstep::internal::train
