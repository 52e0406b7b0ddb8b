#include "train/metrics_file.h"

#include "base/files.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <sstream>

namespace lockstep::train {

namespace {

/// More than this are not asked for: a file that says otherwise is wrong.
constexpr std::size_t kMostIterations = 10'000'000;

/// A line of an iteration.
struct Iteration {
  std::size_t rank = 0;
  Record record;
};

/// False if there is none. Nothing in a metrics file is negative.
bool read_number(const nlohmann::json& line, const char* name, double& value) {
  const auto found = line.find(name);
  if (found == line.end() || !found->is_number()) return false;
  value = found->get<double>();
  return std::isfinite(value) && value >= 0;
}

/// None for lines of other kinds, and for those that are not sound.
std::optional<Iteration> parse_iteration(const std::string& text) {
  constexpr double kMostRanks = 1024;
  const auto line = nlohmann::json::parse(text, nullptr, false);
  if (!line.is_object() || line.value("kind", nlohmann::json()) != "iteration") return std::nullopt;
  Record record;
  double rank = 0, loss = 0, accuracy = 0;
  bool sound = read_number(line, "rank", rank) && rank < kMostRanks &&
               read_number(line, "epoch", record.epoch) &&
               read_number(line, "iteration", record.iteration) &&
               read_number(line, "loss", loss) && read_number(line, "accuracy", accuracy) &&
               accuracy <= 1 && read_number(line, "samples", record.samples) &&
               read_number(line, "lr", record.lr);
  for (const auto& [name, part] : observe::kTimes)
    sound = sound && read_number(line, name, record.times.*part);
  if (!sound) return std::nullopt;
  record.loss_sum = loss * record.samples;
  record.correct = accuracy * record.samples;
  return Iteration{static_cast<std::size_t>(rank), record};
}

}  // namespace

nlohmann::json metrics_line(std::string_view kind, int rank, const Record& record) {
  const double samples = record.samples > 0 ? record.samples : 1;
  nlohmann::json line{{"kind", kind},
                      {"rank", rank},
                      {"epoch", static_cast<std::int64_t>(record.epoch)},
                      {"iteration", static_cast<std::int64_t>(record.iteration)},
                      {"loss", record.loss_sum / samples},
                      {"accuracy", record.correct / samples},
                      {"samples", static_cast<std::int64_t>(record.samples)},
                      {"lr", record.lr}};
  for (const auto& [name, part] : observe::kTimes) line[name] = record.times.*part;
  return line;
}

std::string lines_until(const std::filesystem::path& file, std::size_t done, std::size_t epochs,
                        std::size_t again) {
  if (!std::filesystem::exists(file)) return "";
  std::istringstream lines(read_file(file));
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("iteration") || !json.contains("kind")) continue;
    const auto& iteration = json["iteration"];
    if (!iteration.is_number_unsigned() || iteration > done) continue;
    if (json["kind"] == "epoch" && json.value("epoch", nlohmann::json()) > epochs) continue;
    if (again > 0 && json["kind"] == "iteration" && iteration >= again) continue;
    if (again > 0 && json["kind"] == "test" && iteration == done) continue;
    kept += line + "\n";
  }
  return kept;
}

std::vector<std::vector<Record>> read_iterations(const std::filesystem::path& file,
                                                 std::size_t first, std::size_t last,
                                                 std::size_t batch, std::size_t last_batch) {
  std::vector<std::vector<Record>> records;
  std::vector<double> samples(last + 1 - first);  // by iteration
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) {
    const auto found = parse_iteration(line);
    if (!found) continue;
    const auto& [rank, record] = *found;
    const auto begin = static_cast<double>(first);
    if (record.iteration < begin || record.iteration > static_cast<double>(last)) continue;
    records.resize(std::max(records.size(), rank + 1));
    samples[static_cast<std::size_t>(record.iteration - begin)] += record.samples;
    records[rank].push_back(record);
  }
  const bool whole = std::all_of(samples.begin(), samples.end(), [&](const double& images) {
    return images == static_cast<double>(&images == &samples.back() ? last_batch : batch);
  });
  return whole ? records : std::vector<std::vector<Record>>{};
}

std::vector<double> losses_by_iteration(const std::filesystem::path& file) {
  std::map<std::size_t, std::pair<double, double>> sums;  // loss and samples
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) {
    const auto found = parse_iteration(line);
    if (!found || found->record.iteration < 1) continue;
    auto& [loss, samples] = sums[static_cast<std::size_t>(found->record.iteration)];
    loss += found->record.loss_sum;
    samples += found->record.samples;
  }
  std::vector<double> losses(sums.empty() ? 0 : std::min(sums.rbegin()->first, kMostIterations),
                             std::numeric_limits<double>::quiet_NaN());
  for (const auto& [iteration, sum] : sums)
    if (iteration <= losses.size() && sum.second > 0)
      losses[iteration - 1] = sum.first / sum.second;
  return losses;
}

}  // namespace lockstep::train
