#include "train/training.h"

#include "base/files.h"
#include "base/text.h"
#include "engine/make_engine.h"
#include "models/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace lockstep::internal::train {

namespace {

class Silent : public Progress {
 public:
  void started(const TrainConfig&, std::size_t, std::size_t) override {}
  void notice(const std::string&) override {}
  void iteration(std::size_t, std::size_t, double, double) override {}
  void epoch(std::size_t, const std::vector<std::vector<run::Record>>&) override {}
};

template <typename T>
void append(const std::vector<std::byte>& data, std::vector<double>& values) {
  const auto* elements = reinterpret_cast<const T*>(data.data());
  values.insert(values.end(), elements, elements + data.size() / sizeof(T));
}

}  // namespace

TrainConfig small_job() {
  TrainConfig config;
  config.data_dir = LOCKSTEP_TEST_DATA;
  config.limit = 100;
  config.transport = "thread";
  config.threads = 1;
  config.batch = 16;
  config.momentum = 0.9;
  config.weight_decay = 5e-4;
  return config;
}

run::Summary train_silently(const Group& group, const TrainConfig& config,
                            const StopAsked& stop_asked) {
  Silent silent;
  return train_worker(group, engine::built_in_engines(), config, silent, stop_asked);
}

run::Summary train_on_threads(const TrainConfig& config) {
  run::Summary summary;
  run_threads(config.workers, [&](const Group& group) {
    const run::Summary mine = train_silently(group, config);
    if (group.rank() == 0) summary = mine;
  });
  return summary;
}

std::string name_of_case(const std::tuple<int, std::string>& workers_and_sync) {
  const auto& [workers, sync] = workers_and_sync;
  std::string name = fmt::format("workers{}_{}", workers, sync);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<nlohmann::json> metrics_of(const std::filesystem::path& run_dir,
                                       const std::string& kind) {
  std::vector<nlohmann::json> lines;
  for (const std::string& line : split(read_file(run_dir / "metrics.jsonl"), '\n')) {
    if (line.empty()) continue;
    nlohmann::json json = nlohmann::json::parse(line);
    if (kind.empty() || json.at("kind") == kind) lines.push_back(std::move(json));
  }
  return lines;
}

std::vector<double> values_of(const std::vector<models::StoredTensor>& tensors) {
  std::vector<double> values;
  for (const models::StoredTensor* tensor : models::sorted_by_name(tensors)) {
    if (tensor->type == DataType::float64)
      append<double>(tensor->data, values);
    else if (tensor->type == DataType::float32)
      append<float>(tensor->data, values);
    else
      throw std::invalid_argument(tensor->name);
  }
  return values;
}

std::vector<double> weights_in(const std::filesystem::path& file) {
  return values_of(models::read_safetensors(file));
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) throw std::invalid_argument("different numbers of weights");
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

}  // namespace lockstep::internal::train
