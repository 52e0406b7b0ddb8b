// mistakes: the same job with the classic errors of data-parallel training, each beside the right
// way.
#pragma once

#include "study/compare.h"

namespace lockstep::study {

/// One way to do the job: right, or with a mistake.
struct Way {
  std::string name;   ///< also its folder's
  std::string what;   ///< what is done, in a few words
  std::string right;  ///< the name of the way without this mistake; empty if it is right
  train::TrainConfig config;
};

/// The right way and every mistake; and last the batch that grows with the workers, with a learning
/// rate that grows with it and with one that does not.
std::vector<Way> ways_of(const train::TrainConfig& job);

struct TriedWay {
  Way way;
  train::Summary summary;
  std::size_t different_weights = 1;  ///< how many weights the ranks end with
};

/// Each way in a folder of its own below `job`'s.
std::vector<TriedWay> try_ways(const train::TrainConfig& job, const RunJob& run);

TextTable table_of(const std::vector<TriedWay>& ways);
std::vector<std::string> sentences_of(const std::vector<TriedWay>& ways);
nlohmann::json to_json(const std::vector<TriedWay>& ways);

}  // namespace lockstep::study
