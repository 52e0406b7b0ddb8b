#include "report/tensorboard.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/host_name.h"
#include "report/event_records.h"
#include "report/metrics.h"
#include "run/metrics_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace lockstep::internal::report {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "events.out.tfevents.";
constexpr std::string_view kSuffix = ".lockstep";

/// Seconds since 1970.
double begin_of(const fs::path& run) {
  const auto time = std::chrono::file_clock::to_sys(fs::last_write_time(run / "config.json"));
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

/// The events of one file.
struct Series {
  EventRecords records;
  double moment = 0;  ///< time of the last iteration
};

class AllSeries {
 public:
  explicit AllSeries(double begin) : begin_(begin) {}

  void take(const run::MetricsLine& line) {
    if (line.kind == "test") {
      of("test").records.add(latest_, whole(line.iteration),
                             {{"test/loss", line.loss}, {"test/accuracy", line.accuracy}});
      return;
    }
    Series& rank = of(fmt::format("rank-{}", line.rank));
    if (line.kind == "iteration") {
      rank.moment += line.times.total;
      latest_ = std::max(latest_, rank.moment);
      rank.records.add(rank.moment, whole(line.iteration),
                       {{"iteration/loss", line.loss},
                        {"iteration/accuracy", line.accuracy},
                        {"iteration/seconds", line.times.total}});
    } else if (line.kind == "epoch") {
      rank.records.add(rank.moment, whole(line.epoch),
                       {{"epoch/loss", line.loss}, {"epoch/accuracy", line.accuracy}});
    }
  }

  void write(const fs::path& folder) const {
    for (const auto& [name, series] : by_name_) {
      make_folder(folder / name);
      write_file(
          folder / name / fmt::format("{}{}.{}{}", kPrefix, whole(begin_), host_name(), kSuffix),
          series.records.bytes());
    }
  }

 private:
  static std::int64_t whole(double number) { return static_cast<std::int64_t>(number); }

  Series& of(const std::string& name) {
    return by_name_.try_emplace(name, Series{EventRecords(begin_), begin_}).first->second;
  }

  const double begin_;
  double latest_ = begin_;
  std::map<std::string, Series> by_name_;
};

}  // namespace

fs::path write_tensorboard(const fs::path& run) {
  AllSeries all(begin_of(run));
  run::for_each_metric(run / "metrics.jsonl",
                       [&](const run::MetricsLine& line) { all.take(line); });
  remove_tensorboard(run);
  all.write(run / kTensorboardFolder);
  return run / kTensorboardFolder;
}

void remove_tensorboard(const fs::path& run) {
  std::error_code none;
  std::vector<fs::path> found;
  for (const auto& folder : fs::directory_iterator(run / kTensorboardFolder, none))
    for (const auto& file : fs::directory_iterator(folder, none)) {
      const std::string name = file.path().filename().string();
      if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) found.push_back(file.path());
    }
  for (const fs::path& file : found) {
    fs::remove(file, none);
    fs::remove(file.parent_path(), none);  // fails unless the folder is empty
  }
  if (fs::is_directory(run / kTensorboardFolder, none))
    fs::remove(run / kTensorboardFolder, none);  // fails unless the folder is empty
}

}  // namespace lockstep::internal::report
