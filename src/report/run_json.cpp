#include "report/run_json.h"

#include <lockstep/error.h>

#include "report/post_mortem.h"
#include "run/post_mortem_file.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::report {

namespace {

using nlohmann::json;

json parts_of(const Metrics& metrics) {
  const observe::Times times = metrics.mean_times();
  json parts = json::object();
  for (const auto& [name, part] : observe::kTimes) parts[name] = times.*part;
  return parts;
}

json test_of(const Metrics& metrics) {
  if (!metrics.test) return nullptr;
  return {{"iteration", metrics.test->iteration},
          {"loss", metrics.test->loss},
          {"accuracy", metrics.test->accuracy},
          {"images", metrics.test->images}};
}

/// The summary without the results of each epoch: the curves have them, thinned.
json summary_of(const Run& run) {
  if (!run.summary) return nullptr;
  json summary = run.summary->json();
  for (const char* list : {"epoch_results", "average_train_losses"}) summary.erase(list);
  if (const auto ranks = summary.find("ranks"); ranks != summary.end())
    for (json& rank : *ranks)
      if (rank.is_object()) rank.erase("epoch_results");
  return summary;
}

json stopped_of(const Run& run) {
  if (!run.stopped) return nullptr;
  return {{"iteration", run.stopped->iteration},
          {"of", run.stopped->of ? json(*run.stopped->of) : json()},
          {"running", run.stopped->how.empty()},
          {"why", run.stopped->why}};
}

/// Adds the curves of every rank. Returns the largest number of measurements per point.
std::size_t add_curves(const Metrics& metrics, std::size_t points, json& run) {
  std::size_t together = 1;
  run["iterations"] = json::array();
  run["epochs"] = json::array();
  for (const auto& [rank, its] : metrics.ranks) {
    together = std::max(together,
                        points_in_one(std::max(its.iterations.size(), its.epochs.size()), points));
    const Curve iterations = thinned(its.iterations, points);
    const Curve epochs = thinned(its.epochs, points);
    run["iterations"].push_back({{"rank", rank},
                                 {"iteration", to_json(iterations.at)},
                                 {"loss", to_json(iterations.first)},
                                 {"seconds", to_json(iterations.second)}});
    run["epochs"].push_back({{"rank", rank},
                             {"epoch", to_json(epochs.at)},
                             {"loss", to_json(epochs.first)},
                             {"accuracy", to_json(epochs.second)}});
  }
  return together;
}

json timeline_of(const Run& run, const TimelineLimits& limits, LeftOut& left_out) {
  const std::filesystem::path trace = run.path / "trace.json";
  if (!std::filesystem::exists(trace)) return nullptr;
  try {
    const Timeline timeline = read_timeline(trace, limits);
    left_out.spans += timeline.spans_left_out;
    left_out.ranks = std::max(left_out.ranks, timeline.ranks_left_out);
    return timeline.json;
  } catch (const FileError& error) {  // the rest of the report is still useful
    left_out.problems.push_back(fmt::format("There is no timeline: {}.", error.what()));
    return nullptr;
  }
}

json post_mortem_of(const Run& run, const TimelineLimits& limits, LeftOut& left_out) {
  const std::filesystem::path file = run.path / run::kPostMortemFile;
  if (!std::filesystem::exists(file)) return nullptr;
  try {
    const Timeline post_mortem = read_post_mortem(file, limits);
    if (post_mortem.ranks_left_out + post_mortem.spans_left_out > 0)
      left_out.problems.push_back(fmt::format(
          "The timeline of the post-mortem leaves out {} ranks and {} short operations. {} has all "
          "of them.",
          post_mortem.ranks_left_out, post_mortem.spans_left_out, run::kPostMortemFile));
    return post_mortem.json;
  } catch (const FileError& error) {  // the rest of the report is still useful
    left_out.problems.push_back(fmt::format("There is no post-mortem: {}.", error.what()));
    return nullptr;
  }
}

}  // namespace

std::vector<std::string> LeftOut::notes() const {
  std::vector<std::string> notes;
  if (together > 1)
    notes.push_back(
        fmt::format("Curves are thinned: a point is the mean of up to {} neighbours. metrics.jsonl "
                    "has all of them.",
                    together));
  if (ranks > 0)
    notes.push_back(
        fmt::format("The timeline leaves out {} ranks. trace.json has all of them.", ranks));
  if (spans > 0)
    notes.push_back(fmt::format(
        "The timeline leaves out the {} shortest operations. trace.json has all of them.", spans));
  notes.insert(notes.end(), problems.begin(), problems.end());
  return notes;
}

json run_json(const Run& run, const RunLimits& limits, LeftOut& left_out) {
  json object{{"name", run.name},
              {"folder", run.folder},
              {"config", run.config.json()},
              {"summary", summary_of(run)},
              {"stopped", stopped_of(run)},
              {"test", test_of(run.metrics)},
              {"parts", parts_of(run.metrics)},
              {"timeline", timeline_of(run, limits.timeline, left_out)},
              {"post_mortem", post_mortem_of(run, limits.timeline, left_out)}};
  left_out.together = std::max(left_out.together, add_curves(run.metrics, limits.points, object));
  return object;
}

}  // namespace lockstep::internal::report
