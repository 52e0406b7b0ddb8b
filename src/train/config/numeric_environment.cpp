#include "train/config/numeric_environment.h"

#include "base/vector_unit.h"
#include "launch/hosts/machine_description.h"
#include "sync/broadcast_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::train {

namespace {

constexpr std::string_view kPrefix = "arithmetic: ";

}  // namespace

models::Metadata numeric_environment_of(const TrainConfig& config, const engine::Engine& engine,
                                        const models::Metadata& libraries) {
  if (config.shards == 0) return {};
  models::Metadata environment = libraries;
  environment["processor"] = launch::describe_machine().processor;
  environment["vector unit"] = name_of(vector_unit());
  environment["threads a worker"] = std::to_string(config.threads_per_worker());
  environment["engine"] = engine.name();
  environment["convolutions"] = config.convolution_choice();
  return environment;
}

void add_numeric_environment(const models::Metadata& environment, models::Metadata& metadata) {
  for (const auto& [name, value] : environment) metadata[std::string(kPrefix) + name] = value;
}

models::Metadata numeric_environment_in(const models::Metadata& metadata) {
  models::Metadata environment;
  for (const auto& [name, value] : metadata)
    if (name.starts_with(kPrefix)) environment[name.substr(kPrefix.size())] = value;
  return environment;
}

std::string differences(const models::Metadata& then, const models::Metadata& now) {
  std::string text;
  for (const auto& [name, value] : then) {
    const auto found = now.find(name);
    if (found == now.end() || found->second == value) continue;
    text +=
        fmt::format("{}{} was {} and is {}", text.empty() ? "" : "; ", name, value, found->second);
  }
  return text;
}

std::string differences_on_ranks(Group& group, const models::Metadata& then,
                                 const models::Metadata& now, const std::vector<int>& numbers) {
  std::string text = differences(then, now);
  std::vector<std::uint8_t> differs(static_cast<std::size_t>(group.size()));
  group.all_gather(std::vector<std::uint8_t>{text.empty() ? std::uint8_t{0} : std::uint8_t{1}},
                   differs);
  const auto first = std::find(differs.begin(), differs.end(), 1);
  if (first == differs.end()) return "";
  const int rank = static_cast<int>(first - differs.begin());
  sync::broadcast_text(group, text, rank);
  const int number = numbers.empty() ? rank : numbers[static_cast<std::size_t>(rank)];
  return rank == 0 ? text : fmt::format("rank {}: {}", number, text);
}

}  // namespace lockstep::internal::train
