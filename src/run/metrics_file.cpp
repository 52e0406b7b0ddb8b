#include "run/metrics_file.h"

#include <lockstep/error.h>

#include "base/file_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace lockstep::internal::run {

namespace {

/// A file with larger iteration numbers is damaged.
constexpr std::size_t kMostIterations = 10'000'000;

/// Calls `take` with each well-formed line. Skips the others, such as those of a file that a host
/// left damaged when it crashed.
void for_each_sound_line(
    const std::filesystem::path& file,
    const std::function<void(const MetricsLine&, std::string_view text)>& take) {
  MetricsLine parsed;
  for_each_line(
      file,
      [&](const FileLine& line) {
        if (parse_metrics_line(line.text, parsed).empty()) take(parsed, line.text);
      },
      LongLines::skipped);
}

/// Calls `take` with each iteration line whose numbers are all present and finite.
void for_each_iteration(const std::filesystem::path& file,
                        const std::function<void(int rank, const Record&)>& take) {
  for_each_sound_line(file, [&](const MetricsLine& line, std::string_view) {
    const bool whole = line.kind == "iteration" && std::isfinite(line.loss) && line.loss >= 0 &&
                       line.accuracy <= 1 && line.samples >= 0 && line.lr >= 0;
    if (whole) take(line.rank, record_of(line));
  });
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

void for_each_metric(const std::filesystem::path& file,
                     const std::function<void(const MetricsLine&)>& take) {
  MetricsLine parsed;
  for_each_line(file, [&](const FileLine& line) {
    if (line.text.empty()) return;
    const std::string problem = parse_metrics_line(line.text, parsed);
    if (problem.empty()) return take(parsed);
    if (line.whole)
      throw FileError(
          fmt::format("{}: line {}: {}: the file was damaged or edited. Remove this line to use "
                      "the others",
                      file.string(), line.number, problem));
  });
}

std::string lines_until(const std::filesystem::path& file, std::size_t done, std::size_t epochs,
                        std::size_t again) {
  if (!std::filesystem::exists(file)) return "";
  std::string kept;
  const auto last = static_cast<double>(done);
  for_each_sound_line(file, [&](const MetricsLine& line, std::string_view text) {
    if (!(line.iteration <= last)) return;
    if (line.kind == "epoch" && line.epoch > static_cast<double>(epochs)) return;
    if (again > 0 && line.kind == "iteration" && line.iteration >= static_cast<double>(again))
      return;
    if (again > 0 && line.kind == "test" && line.iteration == last) return;
    kept.append(text).append("\n");
  });
  return kept;
}

std::vector<std::vector<Record>> read_iterations(const std::filesystem::path& file,
                                                 std::size_t first, std::size_t last,
                                                 std::size_t batch, std::size_t last_batch) {
  std::vector<std::vector<Record>> records;
  std::vector<double> samples(last + 1 - first);  // by iteration
  for_each_iteration(file, [&](int rank, const Record& record) {
    const auto begin = static_cast<double>(first);
    if (record.iteration < begin || record.iteration > static_cast<double>(last)) return;
    const auto index = static_cast<std::size_t>(rank);
    records.resize(std::max(records.size(), index + 1));
    samples[static_cast<std::size_t>(record.iteration - begin)] += record.samples;
    records[index].push_back(record);
  });
  const bool whole = std::all_of(samples.begin(), samples.end(), [&](const double& images) {
    return images == static_cast<double>(&images == &samples.back() ? last_batch : batch);
  });
  return whole ? records : std::vector<std::vector<Record>>{};
}

Record record_of(const MetricsLine& line) {
  Record record;
  record.epoch = line.epoch;
  record.iteration = line.iteration;
  record.loss_sum = line.loss * line.samples;
  record.correct = line.accuracy * line.samples;
  record.samples = line.samples;
  record.lr = line.lr;
  record.times = line.times;
  return record;
}

Epochs read_epochs(const std::filesystem::path& file) {
  Epochs epochs;
  for_each_sound_line(file, [&](const MetricsLine& line, std::string_view) {
    if (line.kind == "epoch" && line.samples > 0) epochs.add(line.rank, record_of(line));
  });
  return epochs;
}

std::vector<double> losses_by_iteration(const std::filesystem::path& file) {
  std::map<std::size_t, std::pair<double, double>> sums;  // loss and samples
  for_each_iteration(file, [&](int, const Record& record) {
    if (record.iteration < 1) return;
    auto& [loss, samples] = sums[static_cast<std::size_t>(record.iteration)];
    loss += record.loss_sum;
    samples += record.samples;
  });
  std::vector<double> losses(sums.empty() ? 0 : std::min(sums.rbegin()->first, kMostIterations),
                             std::numeric_limits<double>::quiet_NaN());
  for (const auto& [iteration, sum] : sums)
    if (iteration <= losses.size() && sum.second > 0)
      losses[iteration - 1] = sum.first / sum.second;
  return losses;
}

}  // namespace lockstep::internal::run
