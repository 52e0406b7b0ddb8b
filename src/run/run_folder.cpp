#include "run/run_folder.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "run/metrics_file.h"

#include <fmt/format.h>

#include <utility>

namespace lockstep::internal::run {

FolderLock lock_run_folder(const std::filesystem::path& folder) {
  return FolderLock(folder,
                    "another run is writing to this folder: wait until it ends, or choose another "
                    "--run-dir");
}

RunFolder::RunFolder(std::filesystem::path folder, const nlohmann::json& config, const Done& done)
    : folder_(std::move(folder)) {
  make_folder(folder_);
  std::string kept;
  if (done.iterations > 0)
    kept = lines_until(folder_ / "metrics.jsonl", done.iterations, done.epochs, done.again);
  for (const char* stale : {"summary.json", "trace.json"}) std::filesystem::remove(folder_ / stale);
  std::error_code only_a_report;
  std::filesystem::remove(folder_ / "report.html", only_a_report);
  write_file(folder_ / "config.json",
             config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  write_file(folder_ / "metrics.jsonl", kept);
  metrics_ = open_file(folder_ / "metrics.jsonl", O_WRONLY | O_APPEND);
  if (!metrics_)
    throw FileError(fmt::format("{}: cannot create: {}", (folder_ / "metrics.jsonl").string(),
                                last_system_error()));
}

std::vector<std::vector<Record>> RunFolder::read_iterations(std::size_t first, std::size_t last,
                                                            std::size_t batch,
                                                            std::size_t last_batch) const {
  return run::read_iterations(folder_ / "metrics.jsonl", first, last, batch, last_batch);
}

Epochs RunFolder::read_epochs() const {
  return run::read_epochs(folder_ / "metrics.jsonl");
}

void RunFolder::add_iterations(int rank, std::span<const Record> records) {
  std::string lines;
  for (const Record& record : records)
    lines += metrics_line("iteration", rank, record).dump() + '\n';
  add(lines);
}

void RunFolder::add_epoch(int rank, const Record& sum) {
  add(metrics_line("epoch", rank, sum).dump() + '\n');
}

void RunFolder::add_test(const Record& test) {
  add(metrics_line("test", 0, test).dump() + '\n');
}

void RunFolder::add(const std::string& lines) {
  lines_ += lines;
  std::string_view left = lines_;
  lost_ = !write_from(metrics_.get(), left) || lost_;  // flush() reports it
  lines_.erase(0, lines_.size() - left.size());
  lines_.resize(lines_.find('\n') + 1);  // a line that was begun is completed later
}

void RunFolder::write_trace(const std::string& trace) {
  write_file(folder_ / "trace.json", trace);
}

void RunFolder::flush() {
  add("");  // the rest of a line that a full disk cut off
  if (!std::exchange(lost_, false)) return;
  throw FileError(fmt::format("{}: could not be written completely: is the disk full?",
                              (folder_ / "metrics.jsonl").string()));
}

void RunFolder::finish(const Summary& summary) {
  flush();
  write_file(folder_ / "summary.json", to_json(summary).dump(2) + "\n");
}

bool is_run_folder(const std::filesystem::path& folder) {
  std::error_code none;
  return std::filesystem::is_regular_file(folder / "config.json", none);
}

Summary read_summary(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "summary.json";
  const auto json = nlohmann::json::parse(read_file(file, 1 << 26), nullptr, false);
  if (json.is_discarded()) throw FileError(fmt::format("{}: not valid JSON", file.string()));
  return summary_from_json(json, file.string());
}

}  // namespace lockstep::internal::run
