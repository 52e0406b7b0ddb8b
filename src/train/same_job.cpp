#include "train/same_job.h"

#include <lockstep/error.h>

#include "sync/same_on_all.h"

#include <fmt/format.h>

namespace lockstep::train {

namespace {

using Lines = std::vector<std::string>;

/// What ranks may rightly differ in. All else is compared, a new option too.
constexpr const char* kOwn[] = {
    "data_dir",        // a host may keep its data anywhere: they are compared themselves
    "init",            // rank 0 reads it for all; whether there is one is compared below
    "loader_threads",  // how images are loaded ahead changes nothing that is computed
    "restarts",        // is counted by what starts the workers
};

nlohmann::json compared_options(const TrainConfig& config) {
  nlohmann::json options = to_json(config);
  for (const char* name : kOwn) options.erase(name);
  // Hosts share out different numbers of cores. Only with shards is that part of the result.
  if (config.shards == 0) options.erase("threads");
  // Rank 0 alone uses these files, but all take part where there are any.
  options["has_init"] = !config.init.empty();
  options["has_run_dir"] = !config.run_dir.empty();
  return options;
}

/// What matters only where a run begins: who joins gets the state of the others.
nlohmann::json compared_beginning(const TrainConfig& config) {
  return {{"resume", config.resume}, {"restarted", config.restarted}};
}

Lines lines_of(const nlohmann::json& options) {
  Lines lines;
  for (const auto& [name, value] : options.items())
    lines.push_back(fmt::format("{} {}", name, value.dump()));
  return lines;
}

}  // namespace

void require_same_options(Group& group, const TrainConfig& config) {
  Lines lines = lines_of(compared_options(config));
  for (std::string& line : lines_of(compared_beginning(config))) lines.push_back(std::move(line));
  sync::require_same_on_all(group, lines, "the ranks were not given the same options",
                            "Start all of them with the same");
}

Dataset open_same_dataset(Group& group, const TrainConfig& config) {
  Dataset dataset = open_dataset(config);
  if (group.size() > 1)
    sync::require_same_on_all(group, describe(dataset), "the ranks do not have the same data",
                              "Give all of them the same files (--data-dir)");
  return dataset;
}

Dataset open_same_job(launch::Muster& muster, const TrainConfig& config) {
  muster.require_like_first("options", lines_of(compared_options(config)));
  if (!muster.joins())
    muster.require_like_first("way to begin", lines_of(compared_beginning(config)));
  Dataset dataset = open_dataset(config);
  muster.require_like_first("data", describe(dataset));
  return dataset;
}

}  // namespace lockstep::train
