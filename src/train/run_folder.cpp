#include "train/run_folder.h"

#include <lockstep/error.h>

#include "base/files.h"

#include <fmt/format.h>

#include <sstream>

namespace lockstep::train {

namespace {

nlohmann::json line_of(std::string_view kind, int rank, const Record& record) {
  const observe::Times& times = record.times;
  const double samples = record.samples > 0 ? record.samples : 1;
  return {{"kind", kind},
          {"rank", rank},
          {"epoch", static_cast<std::int64_t>(record.epoch)},
          {"iteration", static_cast<std::int64_t>(record.iteration)},
          {"loss", record.loss_sum / samples},
          {"accuracy", record.correct / samples},
          {"samples", static_cast<std::int64_t>(record.samples)},
          {"lr", record.lr},
          {"data", times.data},
          {"forward", times.forward},
          {"backward", times.backward},
          {"communication", times.communication},
          {"hidden", times.hidden},
          {"exposed", times.exposed},
          {"wait", times.wait},
          {"optimizer", times.optimizer},
          {"total", times.total}};
}

/// The lines of the first `done` iterations; none if there is no such file. A last line that was
/// only begun when the run ended goes, too.
std::string lines_until(const std::filesystem::path& file, std::size_t done) {
  if (!std::filesystem::exists(file)) return "";
  std::istringstream lines(read_file(file));
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("iteration") || !json.contains("kind")) continue;
    const auto& iteration = json["iteration"];
    if (json["kind"] != "test" && iteration.is_number_unsigned() && iteration <= done)
      kept += line + "\n";
  }
  return kept;
}

}  // namespace

RunFolder::RunFolder(std::filesystem::path folder, const TrainConfig& config, std::size_t done)
    : folder_(std::move(folder)) {
  make_folder(folder_);
  const std::string kept = done > 0 ? lines_until(folder_ / "metrics.jsonl", done) : "";
  for (const char* stale : {"summary.json", "trace.json"}) std::filesystem::remove(folder_ / stale);
  write_file(folder_ / "config.json", to_json(config).dump(2) + "\n");
  write_file(folder_ / "metrics.jsonl", kept);
  metrics_.open(folder_ / "metrics.jsonl", std::ios::app);
  if (!metrics_)
    throw FileError(fmt::format("{}: cannot create: {}", (folder_ / "metrics.jsonl").string(),
                                last_system_error()));
}

void RunFolder::add_iterations(int rank, std::span<const Record> records) {
  for (const Record& record : records) add_line(line_of("iteration", rank, record));
}

void RunFolder::add_epoch(int rank, std::span<const Record> records) {
  if (records.empty()) return;
  Record sum = records.back();
  for (const Record& record : records.first(records.size() - 1)) {
    sum.loss_sum += record.loss_sum;
    sum.correct += record.correct;
    sum.samples += record.samples;
    sum.times += record.times;
  }
  add_line(line_of("epoch", rank, sum));
}

void RunFolder::add_test(const Record& test) {
  add_line(line_of("test", 0, test));
}

void RunFolder::add_line(const nlohmann::json& line) {
  metrics_ << line.dump() << '\n';
}

void RunFolder::write_trace(const std::string& trace) {
  write_file(folder_ / "trace.json", trace);
}

void RunFolder::flush() {
  metrics_.flush();
  if (!metrics_)
    throw FileError(fmt::format("{}: could not be written whole: is the disk full?",
                                (folder_ / "metrics.jsonl").string()));
}

void RunFolder::finish(const Summary& summary) {
  flush();
  write_file(folder_ / "summary.json", to_json(summary).dump(2) + "\n");
}

Summary read_summary(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "summary.json";
  const auto json = nlohmann::json::parse(read_file(file, 1 << 26), nullptr, false);
  if (json.is_discarded()) throw FileError(fmt::format("{}: not valid JSON", file.string()));
  return summary_from_json(json, file.string());
}

}  // namespace lockstep::train
