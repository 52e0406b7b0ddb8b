// Epochs: the results of every whole epoch of a run, of each rank and of all ranks together.
#pragma once

#include "base/table/text_table.h"
#include "run/record.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace lockstep::internal::run {

/// One epoch of a rank, or of all ranks: means over images, the mean of the ranks' seconds, and the
/// images that they compute together in a second.
struct EpochResults {
  std::size_t epoch = 0;  ///< from 1
  double train_loss = 0;
  double train_accuracy = 0;
  double seconds = 0;  ///< of its iterations, the first one included
  double images_per_second = 0;
};
void to_json(nlohmann::json& json, const EpochResults& results);
/// A loss of null is NaN.
void from_json(const nlohmann::json& json, EpochResults& results);

/// Sums over records; epoch, iteration and learning rate are those of the last one.
/// REQUIRES: there are records.
Record sum_of(std::span<const Record> records);

class Epochs {
 public:
  /// Adds a rank's epoch, in place of the one that it had.
  void add(int rank, const Record& sum);
  /// Sets the loss of all ranks in an epoch, where the order of its addition matters.
  void set_loss_sum(std::size_t epoch, double sum) { loss_sums_[epoch] = sum; }

  std::vector<EpochResults> of_rank(int rank) const;
  std::vector<EpochResults> of_all() const;
  /// The ranks that took part in an epoch.
  std::vector<int> ranks() const;

 private:
  std::map<std::size_t, std::map<int, Record>> epochs_;
  std::map<std::size_t, double> loss_sums_;  ///< by epoch
};

/// A row for each rank and one for all, for each epoch. If these are more than `most_rows`, it has
/// only the rows for all ranks, and at most so many of the last epochs.
TextTable epochs_table(const std::vector<EpochResults>& all,
                       const std::map<int, std::vector<EpochResults>>& ranks,
                       std::size_t most_rows);

}  // namespace lockstep::internal::run
