#include "report/headline.h"

#include "base/text.h"
#include "run/ranking.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::report {

namespace {

using nlohmann::json;

/// "vgg11" → "VGG-11".
std::string proper_name(const std::string& name) {
  if (name.starts_with("synthetic")) return "synthetic images";  // the configuration says which
  static const std::pair<const char*, const char*> kNames[] = {{"lenet", "LeNet-"},
                                                               {"vgg", "VGG-"},
                                                               {"resnet", "ResNet-"},
                                                               {"mnist", "MNIST"},
                                                               {"cifar", "CIFAR-"}};
  for (const auto& [plain, proper] : kNames)
    if (name.starts_with(plain)) return proper + name.substr(std::string_view(plain).size());
  return name;
}

/// The distinct values of an option, in the order of the runs.
std::vector<std::string> values_of(const std::vector<Run>& runs, const std::string& option) {
  std::vector<std::string> values;
  for (const Run& run : runs) {
    const json value = run.config.json().value(option, json());
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (std::find(values.begin(), values.end(), text) == values.end()) values.push_back(text);
  }
  return values;
}

/// "LeNet-5 on MNIST, 4 workers". Lists several values if the runs differ.
std::string job_of(const std::vector<Run>& runs) {
  std::vector<std::string> models, sets;
  for (const std::string& name : values_of(runs, "model")) models.push_back(proper_name(name));
  for (const std::string& name : values_of(runs, "data")) sets.push_back(proper_name(name));
  std::string title = fmt::format("{} on {}", enumerate(models), enumerate(sets));
  std::vector<std::string> workers;
  for (const std::string& count : values_of(runs, "workers"))
    if (count != "1" || runs.size() == 1) workers.push_back(count);
  if (workers.empty()) workers.emplace_back("1");
  return title + fmt::format(", {} worker{}", enumerate(workers),
                             workers.size() == 1 && workers[0] == "1" ? "" : "s");
}

std::vector<double> rates_of(const run::Fields& summary) {
  std::vector<double> rates;
  for (const run::Fields& repetition : summary.list("repetitions"))
    if (const auto rate = repetition.number("images_per_second")) rates.push_back(*rate);
  if (rates.empty())
    if (const auto rate = summary.number("images_per_second")) rates.push_back(*rate);
  return rates;
}

run::Ranking ranked(const Source& source) {
  std::vector<run::Throughput> rates;
  for (const Run& run : source.runs) {
    if (!run.summary || (source.kind == "compare" && run.name == "alone")) continue;
    run::Throughput throughput{
        .name = run.name,
        .images_per_second = rates_of(*run.summary),
        .inexactness =
            run::inexactness(run.config.text("sync"), run.config.number("staleness").has_value(),
                             run.config.text("compress"))};
    if (!throughput.images_per_second.empty()) rates.push_back(std::move(throughput));
  }
  return {std::move(rates), source.kind == "compare" ? "method" : "run"};
}

json ranks_json(const std::vector<run::Throughput>& runs) {
  json list = json::array();
  for (const run::Throughput& run : runs) {
    const run::Spread spread = run.spread();
    list.push_back({{"name", run.name},
                    {"images_per_second", spread.median},
                    {"lowest", spread.low},
                    {"highest", spread.high},
                    {"repetitions", run.images_per_second.size()}});
  }
  return list;
}

bool train_the_same(const std::vector<Run>& runs) {
  return values_of(runs, "model").size() == 1 && values_of(runs, "data").size() == 1;
}

std::vector<run::IterationTimes> times_of(const std::vector<Run>& runs) {
  std::vector<run::IterationTimes> times;
  for (const Run& run : runs) {
    if (!run.summary) continue;
    const run::Fields seconds = run.summary->object("seconds_per_iteration");
    const bool only_one = runs.size() == 1 && run.workers() == 1;
    run::IterationTimes its{.name = only_one ? "one worker" : run.name,
                            .seconds = {.mean = seconds.number("mean").value_or(0),
                                        .p50 = seconds.number("p50").value_or(0),
                                        .p90 = seconds.number("p90").value_or(0)}};
    if (run.config.text("sync") == "local-sgd")
      its.averages_every = static_cast<int>(run.config.number("local_steps").value_or(1));
    times.push_back(std::move(its));
  }
  return times;
}

std::vector<std::string> differences_of(const std::vector<Run>& runs) {
  std::vector<std::string> differences;
  for (const char* option :
       {"model",      "data",      "limit",     "workers",  "threads",         "transport",
        "engine",     "sync",      "algorithm", "dtype",    "batch",           "epochs",
        "iterations", "optimizer", "lr",        "momentum", "weight_decay",    "nesterov",
        "seed",       "shuffle",   "split",     "augment",  "first_bucket_mb", "bucket_mb"})
    if (const auto values = values_of(runs, option); values.size() > 1 && values.size() <= 8)
      differences.push_back(fmt::format("{} ({})", option, enumerate(values)));
  return differences;
}

}  // namespace

std::string title_of(const Source& source) {
  if (source.study)
    if (const std::string title = source.study->text("title"); !title.empty()) return title;
  const std::string job = job_of(source.runs);
  if (source.kind == "train") {
    const Run& run = source.runs.front();
    return run.workers() == 1 ? job : fmt::format("{}: {}", job, run.method());
  }
  if (source.kind == "compare") return job + ": sync methods compared";
  if (source.kind == "mistakes") return job + ": classic mistakes";
  if (source.kind == "scale") return job + ": scaling";
  return job + ": runs side by side";
}

std::string verdict_of(const Source& source) {
  if (source.study) {
    if (const std::string verdict = source.study->text("verdict"); !verdict.empty()) return verdict;
  } else if (source.kind == "train") {
    const Run& run = source.runs.front();
    if (run.summary) return run.summary->text("verdict");
    return run.on_its_end() + (run.stopped->how.empty() ? "" : " " + run.stopped->how);
  }
  if (train_the_same(source.runs)) return ranked(source).text();
  return "The runs train different models or data, so their speeds are not compared.";
}

json ranking_of(const Source& source) {
  if (source.kind != "compare" && source.kind != "side-by-side") return nullptr;
  const run::Ranking ranking = ranked(source);
  if (!train_the_same(source.runs) || ranking.exact().size() + ranking.inexact().size() == 0)
    return nullptr;
  return {{"fastest", ranking.fastest() ? json(ranking.fastest()->name) : json()},
          {"exact", ranks_json(ranking.exact())},
          {"inexact", ranks_json(ranking.inexact())}};
}

std::vector<std::string> notes_of(const Source& source) {
  std::vector<std::string> notes;
  if (source.study) notes = source.study->texts("notes");
  notes.insert(notes.end(), source.notes.begin(), source.notes.end());
  if (source.kind != "train")
    for (const Run& run : source.runs)
      if (run.stopped)
        notes.push_back(fmt::format("{} is incomplete: {}", run.name, run.on_its_end()));
  if (source.kind == "side-by-side")
    for (const Run& run : source.runs)
      if (run.summary && run.summary->object("bottleneck").text("kind") == "diverged")
        notes.push_back(fmt::format("{}: {}", run.name, run.summary->text("verdict")));
  if (source.kind == "side-by-side")
    if (const auto differences = differences_of(source.runs); !differences.empty())
      notes.push_back(fmt::format("The runs differ in {}.", enumerate(differences)));
  if (source.kind == "side-by-side" && values_of(source.runs, "batch").size() > 1)
    notes.emplace_back(
        "Their global batches differ, so compare images per second and not the time of an "
        "iteration.");
  if (!source.study)
    if (std::string text = run::explain_means(times_of(source.runs)); !text.empty())
      notes.push_back(std::move(text));
  return notes;
}

json scaling_of(const run::Fields& study) {
  const run::Fields scaling = study.object("scaling");
  if (scaling.json().empty()) return nullptr;
  for (const run::Fields& point : scaling.list("points"))
    for (const char* number :
         {"workers", "batch", "seconds_per_epoch", "seconds_per_iteration", "speedup", "efficiency",
          "compute_seconds", "communication_seconds", "bandwidth_mbs", "bandwidth_share"})
      point.number(number);
  return scaling.json();
}

}  // namespace lockstep::internal::report
