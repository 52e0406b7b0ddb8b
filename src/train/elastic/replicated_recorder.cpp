#include "train/elastic/replicated_recorder.h"

#include "comm/purpose.h"

#include <algorithm>
#include <cstring>

namespace lockstep::internal::train {

namespace {

constexpr std::size_t kDoubles = sizeof(run::Record) / sizeof(double);

}  // namespace

ReplicatedRecorder::ReplicatedRecorder(Group group, RecordGatherer::Sink sink, std::deque<Row> rows)
    : group_(std::move(group)), sink_(std::move(sink)), rows_(std::move(rows)) {}

bool ReplicatedRecorder::exchange(const run::Record& record, bool flag) {
  run::Record flags;
  flags.samples = flag ? 1 : 0;
  const std::vector<run::Record> mine{mine_, record, flags};
  const std::vector<run::Record> all = gather(mine);
  Row last, current;
  bool anyone = false;
  for (std::size_t at = 0; at < all.size(); at += mine.size()) {
    last.push_back(all[at]);
    current.push_back(all[at + 1]);
    anyone = anyone || all[at + 2].samples > 0;
  }
  if (!complete_) complete_row(std::move(last));
  rows_.push_back(std::move(current));
  if (rows_.size() > kRows) rows_.pop_front();
  complete_ = false;
  return anyone;
}

void ReplicatedRecorder::flush() {
  if (!complete_) complete_row(gather({mine_}));
}

void ReplicatedRecorder::complete_row(Row row) {
  std::vector<run::Record*> ranks;
  for (run::Record& record : row) ranks.push_back(&record);
  add_waiting(ranks, last_arrival(ranks));
  if (group_.rank() == 0)
    for (std::size_t rank = 0; rank < row.size(); ++rank)
      sink_(static_cast<int>(rank), std::span(row).subspan(rank, 1));
  rows_.back() = std::move(row);
  complete_ = true;
}

std::vector<run::Record> ReplicatedRecorder::gather(const std::vector<run::Record>& mine) {
  const comm::PurposeMark mark(comm::Purpose::metrics);
  std::vector<run::Record> all(mine.size() * static_cast<std::size_t>(group_.size()));
  group_.all_gather(ConstArrayView(mine.data(), mine.size() * kDoubles, DataType::float64),
                    ArrayView(all.data(), all.size() * kDoubles, DataType::float64));
  return all;
}

std::deque<Row> ReplicatedRecorder::rows_until(std::size_t iteration) const {
  std::deque<Row> rows = rows_;
  std::erase_if(
      rows, [&](const Row& row) { return row.front().iteration > static_cast<double>(iteration); });
  return rows;
}

std::vector<double> to_numbers(const std::deque<Row>& rows) {
  std::vector<double> numbers;
  for (const Row& row : rows) {
    numbers.push_back(static_cast<double>(row.size()));
    const auto* values = reinterpret_cast<const double*>(row.data());
    numbers.insert(numbers.end(), values, values + row.size() * kDoubles);
  }
  return numbers;
}

std::deque<Row> rows_from(const std::vector<double>& numbers) {
  std::deque<Row> rows;
  for (std::size_t at = 0; at < numbers.size();) {
    Row& row = rows.emplace_back(static_cast<std::size_t>(numbers[at]));
    std::memcpy(static_cast<void*>(row.data()), numbers.data() + at + 1,
                row.size() * sizeof(run::Record));
    at += 1 + row.size() * kDoubles;
  }
  return rows;
}

}  // namespace lockstep::internal::train
