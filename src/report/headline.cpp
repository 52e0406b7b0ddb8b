#include "report/headline.h"

#include "base/text.h"
#include "report/numbers.h"

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

std::string fastest_of(const std::vector<Run>& runs) {
  std::vector<std::pair<double, const Run*>> times;
  for (const Run& run : runs)
    if (run.summary)
      if (const auto median = run.summary->object("seconds_per_iteration").number("p50"))
        times.emplace_back(*median, &run);
  if (times.size() < 2) return {};
  std::sort(times.begin(), times.end());
  const auto& [best, fastest] = times.front();
  const auto& [worst, slowest] = times.back();
  if (!(best > 0)) return {};
  return fmt::format("{} has the fastest iterations ({} ms), {:.1f} times as fast as {} ({} ms).",
                     fastest->name, milliseconds(best), worst / best, slowest->name,
                     milliseconds(worst));
}

std::vector<std::string> differences_of(const std::vector<Run>& runs) {
  std::vector<std::string> differences;
  for (const char* option :
       {"model",      "data",      "limit",     "workers",         "threads",      "transport",
        "engine",     "sync",      "algorithm", "dtype",           "batch",        "epochs",
        "iterations", "optimizer", "lr",        "momentum",        "weight_decay", "nesterov",
        "seed",       "shuffle",   "augment",   "first_bucket_mb", "bucket_mb"})
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
    return fmt::format("Incomplete: recorded up to {}; {}.", run.where_it_stopped(),
                       run.stopped->why);
  }
  return fastest_of(source.runs);
}

std::vector<std::string> notes_of(const Source& source) {
  std::vector<std::string> notes;
  if (source.study) notes = source.study->texts("notes");
  notes.insert(notes.end(), source.notes.begin(), source.notes.end());
  if (source.kind != "train")
    for (const Run& run : source.runs)
      if (run.stopped)
        notes.push_back(fmt::format("{} is incomplete: recorded up to {}; {}.", run.name,
                                    run.where_it_stopped(), run.stopped->why));
  if (source.kind == "side-by-side")
    if (const auto differences = differences_of(source.runs); !differences.empty())
      notes.push_back(fmt::format("The runs differ in {}.", enumerate(differences)));
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
