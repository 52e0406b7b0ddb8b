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
    "loader_threads",  // how images are loaded ahead changes nothing that is computed
    "restarts",        // is counted by what starts the workers
};

/// What config.json has of options that are compared themselves: a message is to name the option
/// that the user gave.
constexpr const char* kDerived[] = {"lr_full", "method"};

/// Rank 0 alone uses these files, wherever they are, but all ranks have to be given one.
std::string whether_given(const std::filesystem::path& file) {
  return file.empty() ? "not given" : "given";
}

nlohmann::json compared_options(const TrainConfig& config) {
  nlohmann::json options = to_json(config);
  for (const char* name : kOwn) options.erase(name);
  for (const char* name : kDerived) options.erase(name);
  // Others decide these, too, in config.json: shards, or a method's short name.
  options["conv"] = config.convolutions;
  options["sync"] = config.sync;
  options["algorithm"] = config.algorithm;
  // Hosts share out different numbers of cores. Only with shards is that part of the result.
  if (config.shards == 0) options.erase("threads");
  options["init"] = whether_given(config.init);
  options["save"] = whether_given(config.save);
  options["run_dir"] = whether_given(config.run_dir);
  return options;
}

/// What matters only where a run begins: who joins gets the state of the others.
nlohmann::json compared_beginning(const TrainConfig& config) {
  return {{"resume", config.resume}, {"restarted", config.restarted}};
}

std::string line_of(const std::string& name, const nlohmann::json& value) {
  const bool plain = value.is_string() && !value.get_ref<const std::string&>().empty();
  return fmt::format("{} {}", name, plain ? value.get<std::string>() : value.dump());
}

/// The number of epochs comes last: it is 0 where --iterations alone says how long.
Lines lines_of(const nlohmann::json& options) {
  constexpr const char* kLast = "epochs";
  Lines lines;
  for (const auto& [name, value] : options.items())
    if (name != kLast) lines.push_back(line_of(name, value));
  if (options.contains(kLast)) lines.push_back(line_of(kLast, options.at(kLast)));
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
