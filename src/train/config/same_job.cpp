#include "train/config/same_job.h"

#include "sync/same_on_all.h"
#include "train/config/options.h"

#include <string>
#include <vector>

namespace lockstep::internal::train {

void require_same_options(Group& group, const TrainConfig& config) {
  std::vector<std::string> lines = lines_to_compare(config, /*at_start=*/false);
  for (std::string& line : lines_to_compare(config, /*at_start=*/true))
    lines.push_back(std::move(line));
  sync::require_same_on_all(group, lines, "the ranks have different options",
                            "Start all of them with the same options");
}

Dataset open_same_dataset(Group& group, const TrainConfig& config) {
  Dataset dataset = open_dataset(config);
  if (group.size() > 1)
    sync::require_same_on_all(group, describe(dataset), "the ranks have different data",
                              "Give all of them the same files (--data-dir)");
  return dataset;
}

Dataset open_same_job(launch::ElasticMembership& membership, const TrainConfig& config) {
  membership.require_like_first("options", lines_to_compare(config, false));
  if (!membership.joins())
    membership.require_like_first("way to begin", lines_to_compare(config, true));
  Dataset dataset = open_dataset(config);
  membership.require_like_first("data", describe(dataset));
  return dataset;
}

}  // namespace lockstep::internal::train
