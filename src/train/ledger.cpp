#include "train/ledger.h"

#include <algorithm>
#include <cstring>

namespace lockstep::train {

namespace {

constexpr std::size_t kDoubles = sizeof(Record) / sizeof(double);

}  // namespace

Ledger::Ledger(Group group, Recorder::Sink sink, std::deque<Row> rows)
    : group_(std::move(group)), sink_(std::move(sink)), rows_(std::move(rows)) {}

bool Ledger::agree(const Record& record, bool raised) {
  Record hand;
  hand.samples = raised ? 1 : 0;
  const std::vector<Record> mine{mine_, record, hand};
  const std::vector<Record> all = gather(mine);
  Row whole, begun;
  bool anyone = false;
  for (std::size_t at = 0; at < all.size(); at += mine.size()) {
    whole.push_back(all[at]);
    begun.push_back(all[at + 1]);
    anyone = anyone || all[at + 2].samples > 0;
  }
  if (!settled_) put(std::move(whole));
  rows_.push_back(std::move(begun));
  if (rows_.size() > kRows) rows_.pop_front();
  settled_ = false;
  return anyone;
}

void Ledger::settle() {
  if (!settled_) put(gather({mine_}));
}

void Ledger::put(Row row) {
  if (group_.rank() == 0)
    for (std::size_t rank = 0; rank < row.size(); ++rank)
      sink_(static_cast<int>(rank), std::span(row).subspan(rank, 1));
  rows_.back() = std::move(row);
  settled_ = true;
}

std::vector<Record> Ledger::gather(const std::vector<Record>& mine) {
  std::vector<Record> all(mine.size() * static_cast<std::size_t>(group_.size()));
  group_.all_gather(ConstArrayView(mine.data(), mine.size() * kDoubles, DataType::float64),
                    ArrayView(all.data(), all.size() * kDoubles, DataType::float64));
  return all;
}

std::deque<Row> Ledger::rows_until(std::size_t iteration) const {
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
                row.size() * sizeof(Record));
    at += 1 + row.size() * kDoubles;
  }
  return rows;
}

}  // namespace lockstep::train
