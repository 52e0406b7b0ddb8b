#include "study/compare.h"

#include <lockstep/error.h>

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

train::TrainConfig job_for(const train::TrainConfig& job, const std::string& method, int workers,
                           const std::string& name) {
  train::TrainConfig config = with_method(job, method);
  config.servers = std::min(config.servers, workers);
  config.workers = workers;
  config.run_dir = job.run_dir / name;
  config.save = config.run_dir / "weights.safetensors";
  return config;
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

bool is_faster(const ComparedRun& a, const ComparedRun& b) {
  return a.summary.seconds_per_iteration.p50 < b.summary.seconds_per_iteration.p50;
}

}  // namespace

const ComparedRun* Comparison::fastest() const {
  if (runs.size() < 2) return nullptr;
  return &*std::min_element(runs.begin() + 1, runs.end(), is_faster);
}

const ComparedRun* Comparison::slowest() const {
  if (runs.size() < 2) return nullptr;
  return &*std::max_element(runs.begin() + 1, runs.end(), is_faster);
}

double Comparison::speedup(const ComparedRun& run) const {
  const double seconds = run.summary.seconds_per_iteration.p50;
  return seconds > 0 ? alone().summary.seconds_per_iteration.p50 / seconds : 0;
}

bool Comparison::all_agree() const {
  return std::all_of(runs.begin(), runs.end(), [](const ComparedRun& run) {
    return !run.exact || run.weights_difference < kSameWeights;
  });
}

train::TrainConfig with_method(const train::TrainConfig& job, const std::string& method) {
  train::TrainConfig config = job;
  const std::size_t plus = method.find('+');
  config.sync = method.substr(0, plus);
  if (plus != std::string::npos) config.compress = method.substr(plus + 1);
  return config;
}

Comparison compare(const train::TrainConfig& job, const std::vector<std::string>& methods,
                   const RunJob& run) {
  const train::TrainConfig alone = job_for(job, "ddp", 1, "alone");
  std::vector<train::TrainConfig> configs{alone};
  for (const std::string& method : methods)
    configs.push_back(job_for(job, method, job.workers, method));
  const train::TrainConfig& first_method = configs[std::min<std::size_t>(1, configs.size() - 1)];
  Comparison comparison{.runs = {}, .sync_bn = job.sync_bn, .shards = job.shards};
  for (const train::TrainConfig& config : configs) {
    make_folder(config.run_dir);
    ComparedRun compared{.name = config.run_dir.filename().string(),
                         .exact = config.is_exact(),
                         .summary = run(config)};
    compared.weights_difference = relative_difference(alone.save, config.save);
    if (&config != &configs.front())
      compared.methods_difference = relative_difference(first_method.save, config.save);
    compared.loss_difference = largest_distance(losses_of(alone), losses_of(config));
    comparison.runs.push_back(std::move(compared));
  }
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
    json["name"] = json["folder"] = run.name;
    json["weights_difference"] = run.weights_difference;
    json["methods_difference"] = run.methods_difference;
    json["loss_difference"] = run.loss_difference;
    json["speedup"] = comparison.speedup(run);
    runs.push_back(std::move(json));
  }
  const ComparedRun* fastest = comparison.fastest();
  return run::to_json(
      {.kind = "compare",
       .verdict = fastest ? fastest->summary.verdict : comparison.alone().summary.verdict,
       .notes = sentences_of(comparison),
       .tables = {table_of(comparison)},
       .runs = std::move(runs)});
}

}  // namespace lockstep::internal::study
