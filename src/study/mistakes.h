// mistakes: trains the same job correctly and with each classic mistake of data-parallel training.
#pragma once

#include "study/compare.h"

namespace lockstep::internal::study {

/// One variant of the job: correct, or with a mistake.
struct Variant {
  std::string name;   ///< also the name of its folder
  std::string what;   ///< short description
  std::string right;  ///< name of the variant without this mistake; empty for a correct variant
  train::TrainConfig config;
};

/// The correct variant and every mistake. The last two have a batch that grows with the workers:
/// one scales the learning rate with it, the other does not.
std::vector<Variant> variants_of(const train::TrainConfig& job);

struct TrainedVariant {
  Variant variant;
  run::Summary summary;
  std::size_t different_weights = 1;  ///< number of different weights among the ranks at the end
};

/// Trains every variant in its own folder below that of `job`.
std::vector<TrainedVariant> train_variants(const train::TrainConfig& job, const RunJob& run);

TextTable table_of(const std::vector<TrainedVariant>& variants);
std::vector<std::string> sentences_of(const std::vector<TrainedVariant>& variants);
nlohmann::json to_json(const std::vector<TrainedVariant>& variants);

}  // namespace lockstep::internal::study
