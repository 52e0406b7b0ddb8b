// Ledger: what every rank measured in every iteration, known to every rank before the iteration's
// update is made, so that it outlives any of them. In place of a Recorder, where workers may be
// lost.
#pragma once

#include <lockstep/group.h>

#include "train/recorder.h"

#include <cstddef>
#include <deque>
#include <vector>

namespace lockstep::train {

/// One iteration of all ranks, by rank.
using Row = std::vector<Record>;

class Ledger {
 public:
  /// The newest so many rows are kept: those that rank 0 may not have written down when it is lost.
  static constexpr std::size_t kRows = 3;

  /// Goes on with the rows that are kept. `sink` is called on rank 0 with each rank's new records.
  Ledger(Group group, Recorder::Sink sink, std::deque<Row> rows);

  /// This rank's iteration as far as it has come; its times are yet to grow. Returns whether any
  /// rank has `raised` a hand. A collective; if it throws, nothing has changed.
  bool agree(const Record& record, bool raised);

  /// The same iteration, whole.
  void complete(const Record& record) { mine_ = record; }

  /// All ranks have completed an iteration: rank 0 gets it now rather than with the next one. A
  /// collective.
  void settle();

  /// The newest, oldest first, of iterations up to this one.
  std::deque<Row> rows_until(std::size_t iteration) const;

 private:
  std::vector<Record> gather(const std::vector<Record>& mine);
  void put(Row row);

  Group group_;
  const Recorder::Sink sink_;
  std::deque<Row> rows_;
  Record mine_;          ///< of the newest row
  bool settled_ = true;  ///< the newest row has whole records, and the sink has it
};

/// Rows as numbers, and back. What is read must be what was written.
std::vector<double> to_numbers(const std::deque<Row>& rows);
std::deque<Row> rows_from(const std::vector<double>& numbers);

}  // namespace lockstep::train
