#include "study/compare.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "models/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lockstep::study {

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
  train::TrainConfig config = job;
  config.sync = method;
  config.workers = workers;
  config.run_dir = job.run_dir / name;
  config.save = config.run_dir / "weights.safetensors";
  return config;
}

}  // namespace

bool Comparison::all_agree() const {
  return std::all_of(runs.begin(), runs.end(),
                     [](const ComparedRun& run) { return run.weights_difference < kSameWeights; });
}

Comparison compare(const train::TrainConfig& job, const std::vector<std::string>& methods,
                   const RunJob& run) {
  Comparison comparison;
  std::filesystem::path first;
  auto add = [&](const train::TrainConfig& config) {
    make_folder(config.run_dir);
    ComparedRun compared{run(config), 0};
    if (first.empty()) first = config.save;
    compared.weights_difference = relative_difference(first, config.save);
    comparison.runs.push_back(std::move(compared));
  };
  add(job_for(job, "ddp", 1, "alone"));
  for (const std::string& method : methods) add(job_for(job, method, job.workers, method));
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
    nlohmann::json json = train::to_json(run.summary);
    json["weights_difference"] = run.weights_difference;
    runs.push_back(std::move(json));
  }
  return {{"runs", runs}};
}

}  // namespace lockstep::study
