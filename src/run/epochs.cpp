#include "run/epochs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

namespace lockstep::internal::run {

namespace {

EpochResults results_of(const Record& sum, double seconds) {
  const double samples = std::max(sum.samples, 1.0);
  return {.epoch = static_cast<std::size_t>(sum.epoch),
          .train_loss = sum.loss_sum / samples,
          .train_accuracy = sum.correct / samples,
          .seconds = seconds,
          .images_per_second = seconds > 0 ? sum.samples / seconds : 0};
}

std::vector<std::string> row_of(const EpochResults& results, std::string rank) {
  return {fmt::format("{}", results.epoch),
          std::move(rank),
          fmt::format("{:.4f}", results.train_loss),
          fmt::format("{:.2f}", 100 * results.train_accuracy),
          fmt::format("{:.3f}", results.seconds),
          fmt::format("{:.0f}", results.images_per_second)};
}

}  // namespace

void to_json(nlohmann::json& json, const EpochResults& results) {
  json = {{"epoch", results.epoch},
          {"train_loss", results.train_loss},
          {"train_accuracy", results.train_accuracy},
          {"seconds", results.seconds},
          {"images_per_second", results.images_per_second}};
}

void from_json(const nlohmann::json& json, EpochResults& results) {
  json.at("epoch").get_to(results.epoch);
  const nlohmann::json& loss = json.at("train_loss");
  results.train_loss =
      loss.is_null() ? std::numeric_limits<double>::quiet_NaN() : loss.get<double>();
  json.at("train_accuracy").get_to(results.train_accuracy);
  json.at("seconds").get_to(results.seconds);
  json.at("images_per_second").get_to(results.images_per_second);
}

Record sum_of(std::span<const Record> records) {
  Record sum = records.back();
  for (const Record& record : records.first(records.size() - 1)) {
    sum.loss_sum += record.loss_sum;
    sum.correct += record.correct;
    sum.samples += record.samples;
    sum.times += record.times;
  }
  return sum;
}

void Epochs::add(int rank, const Record& sum) {
  epochs_[static_cast<std::size_t>(sum.epoch)][rank] = sum;
}

std::vector<EpochResults> Epochs::of_rank(int rank) const {
  std::vector<EpochResults> results;
  for (const auto& [epoch, ranks] : epochs_)
    if (const auto found = ranks.find(rank); found != ranks.end())
      results.push_back(results_of(found->second, found->second.times.total));
  return results;
}

std::vector<EpochResults> Epochs::of_all() const {
  std::vector<EpochResults> results;
  for (const auto& [epoch, ranks] : epochs_) {
    std::vector<Record> sums;
    for (const auto& [rank, sum] : ranks) sums.push_back(sum);
    Record all = sum_of(sums);
    if (const auto loss = loss_sums_.find(epoch); loss != loss_sums_.end())
      all.loss_sum = loss->second;
    results.push_back(results_of(all, all.times.total / static_cast<double>(sums.size())));
  }
  return results;
}

std::vector<int> Epochs::ranks() const {
  std::set<int> all;
  for (const auto& [epoch, ranks] : epochs_)
    for (const auto& [rank, sum] : ranks) all.insert(rank);
  return {all.begin(), all.end()};
}

TextTable epochs_table(const std::vector<EpochResults>& all,
                       const std::map<int, std::vector<EpochResults>>& ranks,
                       std::size_t most_rows) {
  TextTable table{.title = "Epochs",
                  .columns = {"epoch",
                              "rank",
                              {"train loss", "mean over the images of the epoch"},
                              "train %",
                              {"seconds",
                               "of all iterations of the epoch, in epoch 1 with the one-time setup "
                               "of the first; for all ranks: the mean"},
                              {"images/s", "for all ranks: of all of them together"}}};
  const bool each_rank = all.size() * (ranks.size() + 1) <= most_rows;
  const std::size_t cut = all.size() > most_rows ? all.size() - most_rows : 0;
  if (cut > 0) table.title += fmt::format(" (the last {})", most_rows);
  for (std::size_t i = cut; i < all.size(); ++i) {
    for (const auto& [rank, epochs] : ranks) {
      const auto its = std::lower_bound(
          epochs.begin(), epochs.end(), all[i].epoch,
          [](const EpochResults& one, std::size_t epoch) { return one.epoch < epoch; });
      if (each_rank && its != epochs.end() && its->epoch == all[i].epoch)
        table.rows.push_back(row_of(*its, fmt::format("{}", rank)));
    }
    if (!each_rank || ranks.size() != 1) table.rows.push_back(row_of(all[i], "all"));
  }
  return table;
}

}  // namespace lockstep::internal::run
