#include "study/mistakes.h"

#include "base/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lockstep::study {

namespace {

using train::Mistake;

constexpr const char* kRight = "right";
constexpr const char* kLargeRight = "large-batch";

/// What each mistake does, for the table; and what became of it, for the sentences.
std::string what_of(Mistake mistake) {
  switch (mistake) {
    case Mistake::none:
      return "gradients averaged before the update";
    case Mistake::sync_after_update:
      return "gradients averaged after the update";
    case Mistake::same_order:
      return "the same order of images in every epoch";
    case Mistake::different_weights:
      return "every worker starts from weights of its own";
    case Mistake::sum:
      return "gradients added up, not averaged";
    case Mistake::same_shard:
      return "every worker has the same images";
  }
  return "";
}

std::string cause_of(const std::string& name) {
  if (name == "sync-after-update")
    return "every worker learns from its own images alone, and their weights drift apart";
  if (name == "same-order")
    return "each epoch repeats the last one's batches; it rarely shows in a short run";
  if (name == "different-weights")
    return "gradients of one network move another: none of them goes where it should";
  if (name == "sum")
    return "the step is as many times too long as there are workers: it can look "
           "like luck here, and diverge elsewhere";
  if (name == "same-shard")
    return "all workers do the work of one: the other images of each batch are never seen";
  return "fewer updates an epoch, each as short as before: the larger batch learns less";
}

Way way_for(const train::TrainConfig& job, std::string name, std::string what, std::string right) {
  Way way{std::move(name), std::move(what), std::move(right), job};
  way.config.run_dir = job.run_dir / way.name;
  return way;
}

const TriedWay* find(const std::vector<TriedWay>& ways, const std::string& name) {
  const auto found = std::find_if(ways.begin(), ways.end(),
                                  [&](const TriedWay& tried) { return tried.way.name == name; });
  return found == ways.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Way> ways_of(const train::TrainConfig& job) {
  std::vector<Way> ways{way_for(job, kRight, what_of(Mistake::none), "")};
  for (const std::string& name : train::mistake_names()) {
    ways.push_back(way_for(job, name, what_of(train::parse_mistake(name)), kRight));
    ways.back().config.mistake = name;
  }
  train::TrainConfig large = job;
  large.batch *= static_cast<std::size_t>(job.workers);
  ways.push_back(way_for(
      large, "unscaled-rate",
      fmt::format("a batch {} times as large, the same learning rate", job.workers), kLargeRight));
  large.learning_rate *= job.workers;
  ways.insert(ways.end() - 1,
              way_for(large, kLargeRight,
                      fmt::format("batch and learning rate {} times as large", job.workers), ""));
  return ways;
}

std::vector<TriedWay> try_ways(const train::TrainConfig& job, const RunJob& run) {
  std::vector<TriedWay> tried;
  for (Way& way : ways_of(job)) {
    make_folder(way.config.run_dir);
    train::Summary summary = run(way.config);
    std::set<std::string> weights;
    for (const train::RankSummary& rank : summary.ranks) weights.insert(rank.weights_sha256);
    tried.push_back({std::move(way), std::move(summary), weights.size()});
  }
  return tried;
}

TextTable table_of(const std::vector<TriedWay>& ways) {
  TextTable table;
  table.title = "The right way, and mistakes";
  table.columns = {"way", "loss", "train %", "test %", "weights", "what is done"};
  table.explain = {{"loss", "on the training images, in the last epoch"},
                   {"test %", "where workers differ, each judges its share of the images"},
                   {"weights", "how many different ones the workers end with"}};
  for (const TriedWay& tried : ways)
    table.rows.push_back(
        {tried.way.name, fmt::format("{:.4f}", tried.summary.train_loss),
         percent_cell(tried.summary.train_accuracy), percent_cell(tried.summary.test_accuracy),
         tried.different_weights == 1 ? "one"
                                      : fmt::format("{} different", tried.different_weights),
         tried.way.what});
  return table;
}

std::vector<std::string> sentences_of(const std::vector<TriedWay>& ways) {
  std::vector<std::string> sentences;
  double lowest = 1;
  double highest = 0;
  for (const TriedWay& tried : ways) {
    lowest = std::min(lowest, tried.summary.train_accuracy);
    highest = std::max(highest, tried.summary.train_accuracy);
    const TriedWay* right = find(ways, tried.way.right);
    if (!right) continue;
    sentences.push_back(fmt::format(
        "{}: train accuracy {} % instead of {} %, test {} % instead of {} %: {}.", tried.way.name,
        percent_cell(tried.summary.train_accuracy), percent_cell(right->summary.train_accuracy),
        percent_cell(tried.summary.test_accuracy), percent_cell(right->summary.test_accuracy),
        cause_of(tried.way.name)));
  }
  sentences.push_back(fmt::format(
      "No error stopped any of these runs, yet the same job ends "
      "between {} % and {} % of its training images: where two ways to add the same gradients "
      "learn differently, look for a mistake such as these, not at the algorithm.",
      percent_cell(lowest), percent_cell(highest)));
  return sentences;
}

nlohmann::json to_json(const std::vector<TriedWay>& ways) {
  nlohmann::json runs = nlohmann::json::array();
  for (const TriedWay& tried : ways) {
    nlohmann::json json = train::to_json(tried.summary);
    json["name"] = json["folder"] = tried.way.name;
    json["what"] = tried.way.what;
    json["right"] = tried.way.right;
    json["different_weights"] = tried.different_weights;
    runs.push_back(std::move(json));
  }
  return {{"format", 1},
          {"kind", "mistakes"},
          {"runs", runs},
          {"tables", {to_json(table_of(ways))}},
          {"notes", sentences_of(ways)},
          {"verdict", sentences_of(ways).back()}};
}

}  // namespace lockstep::study
