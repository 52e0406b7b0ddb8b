#include "study/compare.h"

#include <lockstep/error.h>

#include "base/deadline.h"
#include "base/files.h"
#include "models/safetensors.h"
#include "run/metrics_file.h"
#include "run/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lockstep::internal::study {

namespace {

using models::StoredTensor;

double element(const StoredTensor& tensor, std::size_t i) {
  if (tensor.type == DataType::float64) {
    double value = 0;
    std::memcpy(&value, tensor.data.data() + i * sizeof value, sizeof value);
    return value;
  }
  float value = 0;
  std::memcpy(&value, tensor.data.data() + i * sizeof value, sizeof value);
  return value;
}

bool is_floating(const StoredTensor& tensor) {
  return tensor.type == DataType::float32 || tensor.type == DataType::float64;
}

/// The job of a variant in a round, from 1.
train::TrainConfig job_for(const train::TrainConfig& job, const std::string& method, int workers,
                           const std::filesystem::path& folder) {
  train::TrainConfig config = with_method(job, method);
  config.servers = std::min(config.servers, workers);
  config.workers = workers;
  config.run_dir = job.run_dir / folder;
  config.save = config.run_dir / "weights.safetensors";
  return config;
}

/// The folder of a variant in a round, from 1, relative to that of the study.
std::filesystem::path folder_of(const std::string& name, int round) {
  return round == 1 ? name : fmt::format("repeat-{}/{}", round, name);
}

/// The jobs of a round.
std::vector<train::TrainConfig> jobs_of(const train::TrainConfig& job,
                                        const std::vector<std::string>& methods, int round) {
  std::vector<train::TrainConfig> jobs{job_for(job, "ddp", 1, folder_of("alone", round))};
  for (const std::string& method : methods)
    jobs.push_back(job_for(job, method, job.workers, folder_of(method, round)));
  return jobs;
}

std::vector<double> losses_of(const train::TrainConfig& config) {
  return run::losses_by_iteration(config.run_dir / "metrics.jsonl");
}

double largest_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// The runs of a round.
std::vector<ComparedRun> run_round(const train::TrainConfig& job,
                                   const std::vector<train::TrainConfig>& configs,
                                   const RunJob& run) {
  const train::TrainConfig& alone = configs.front();
  const train::TrainConfig& first_method = configs[std::min<std::size_t>(1, configs.size() - 1)];
  std::vector<ComparedRun> runs;
  for (const train::TrainConfig& config : configs) {
    make_folder(config.run_dir);
    ComparedRun compared{.name = config.run_dir.filename().string(),
                         .inexactness = config.inexactness(),
                         .folder = config.run_dir.lexically_relative(job.run_dir).string(),
                         .summary = run(config)};
    if (config.method().sync == "local-sgd") compared.averages_every = config.local_steps;
    compared.weights_difference = relative_difference(alone.save, config.save);
    if (&config != &alone)
      compared.methods_difference = relative_difference(first_method.save, config.save);
    compared.loss_difference = largest_distance(losses_of(alone), losses_of(config));
    runs.push_back(std::move(compared));
  }
  return runs;
}

/// The median repetition of a variant by images per second.
ComparedRun median_of(const std::vector<ComparedRun>& repetitions) {
  std::vector<double> rates;
  for (const ComparedRun& run : repetitions) rates.push_back(run.summary.images_per_second);
  const auto median = std::find(rates.begin(), rates.end(), run::spread_of(rates).median);
  ComparedRun run = repetitions[static_cast<std::size_t>(median - rates.begin())];
  for (const ComparedRun& one : repetitions) run.repetitions.push_back({one.folder, one.summary});
  return run;
}

/// The exact methods, or all if none is exact.
const std::vector<run::Throughput>& ranked(const run::Ranking& ranking) {
  return ranking.exact().empty() ? ranking.inexact() : ranking.exact();
}

const ComparedRun* find(const Comparison& comparison, const std::string& method) {
  return &*std::find_if(comparison.runs.begin() + 1, comparison.runs.end(),
                        [&](const ComparedRun& run) { return run.name == method; });
}

nlohmann::json repetition_json(const Repetition& repetition) {
  const nlohmann::json summary = run::to_json(repetition.summary);
  nlohmann::json json{{"folder", repetition.folder}};
  for (const char* field : {"images_per_second", "seconds_per_iteration", "seconds_total"})
    json[field] = summary[field];
  return json;
}

}  // namespace

run::Throughput ComparedRun::throughput() const {
  run::Throughput throughput{.name = name, .images_per_second = {}, .inexactness = inexactness};
  for (const Repetition& one : repetitions)
    throughput.images_per_second.push_back(one.summary.images_per_second);
  if (repetitions.empty()) throughput.images_per_second.push_back(summary.images_per_second);
  return throughput;
}

run::Ranking Comparison::ranking() const {
  std::vector<run::Throughput> methods;
  for (std::size_t i = 1; i < runs.size(); ++i) methods.push_back(runs[i].throughput());
  return {std::move(methods), "method"};
}

const ComparedRun* Comparison::fastest() const {
  return runs.size() < 2 ? nullptr : find(*this, ranked(ranking()).front().name);
}

const ComparedRun* Comparison::slowest() const {
  return runs.size() < 2 ? nullptr : find(*this, ranked(ranking()).back().name);
}

double Comparison::speedup(const ComparedRun& run) const {
  const double images = alone().summary.images_per_second;
  return images > 0 ? run.summary.images_per_second / images : 0;
}

bool Comparison::all_agree() const {
  return std::all_of(runs.begin(), runs.end(), [](const ComparedRun& run) {
    return !run.exact() || run.weights_difference < kSameWeights;
  });
}

train::TrainConfig with_method(const train::TrainConfig& job, const std::string& method) {
  train::TrainConfig config = job;
  const std::size_t plus = method.find('+');
  config.sync = method.substr(0, plus);
  if (plus != std::string::npos) config.compress = method.substr(plus + 1);
  return config;
}

int usual_rounds(double first_round_seconds) {
  constexpr double kSeconds = 60, kMost = 3;
  return static_cast<int>(std::clamp(kSeconds / std::max(first_round_seconds, 1e-3), 1.0, kMost));
}

Comparison compare(const train::TrainConfig& job, const std::vector<std::string>& methods,
                   const RunJob& run, std::optional<int> repeat) {
  Comparison comparison{
      .runs = {}, .sync_bn = job.sync_bn, .shards = job.shards, .machine = this_machine()};
  std::vector<std::vector<ComparedRun>> repetitions(methods.size() + 1);  // by variant
  int rounds = repeat.value_or(1);
  for (int round = 1; round <= rounds; ++round) {
    const double begun = now_seconds();
    const std::vector<ComparedRun> runs = run_round(job, jobs_of(job, methods, round), run);
    for (std::size_t i = 0; i < runs.size(); ++i) repetitions[i].push_back(runs[i]);
    if (round == 1 && !repeat) rounds = usual_rounds(now_seconds() - begun);
  }
  for (const auto& variant : repetitions) comparison.runs.push_back(median_of(variant));
  return comparison;
}

double relative_difference(const std::filesystem::path& a, const std::filesystem::path& b) {
  const std::vector<StoredTensor> left = models::read_safetensors(a);
  const std::vector<StoredTensor> right = models::read_safetensors(b);
  double difference = 0;
  double norm = 0;
  for (std::size_t t = 0; t < std::max(left.size(), right.size()); ++t) {
    if (t >= left.size() || t >= right.size() || left[t].name != right[t].name ||
        left[t].shape != right[t].shape || left[t].type != right[t].type)
      throw Error(fmt::format("{} and {} do not hold the same tensors", a.string(), b.string()));
    if (!is_floating(left[t])) continue;
    const std::size_t count = left[t].data.size() / size_of(left[t].type);
    for (std::size_t i = 0; i < count; ++i) {
      const double value = element(left[t], i);
      difference += std::pow(value - element(right[t], i), 2);
      norm += value * value;
    }
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

nlohmann::json to_json(const Comparison& comparison) {
  nlohmann::json runs = nlohmann::json::array();
  for (const ComparedRun& run : comparison.runs) {
    nlohmann::json json = run::to_json(run.summary);
    json["name"] = run.name;
    json["folder"] = run.folder;
    json["exact"] = run.exact();
    json["weights_difference"] = run.weights_difference;
    json["methods_difference"] = run.methods_difference;
    json["loss_difference"] = run.loss_difference;
    json["speedup"] = comparison.speedup(run);
    for (const Repetition& one : run.repetitions)
      json["repetitions"].push_back(repetition_json(one));
    runs.push_back(std::move(json));
  }
  return run::to_json({.kind = "compare",
                       .verdict = verdict_of(comparison),
                       .notes = sentences_of(comparison),
                       .tables = {table_of(comparison)},
                       .runs = std::move(runs)});
}

}  // namespace lockstep::internal::study
