#include "watch/run_state.h"

#include "base/deadline.h"
#include "base/files.h"
#include "base/folder_lock.h"
#include "run/post_mortem_file.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>

namespace lockstep::internal::watch {

namespace {

namespace fs = std::filesystem;

using nlohmann::json;

constexpr double kRecentSeconds = 10;  // of iterations that means cover
constexpr std::size_t kMostRecent = 1000;
constexpr double kLostAfter = 30;  // seconds without a record, while other ranks have records
constexpr double kMostRanks = 1024;
constexpr std::uint64_t kMostMetrics = 2 << 20;  // bytes read when a run is seen first
constexpr std::array kFiles{"config.json", "summary.json", run::kPostMortemFile, "trace.json"};

run::Fields no_fields() {
  return {json::object(), ""};
}

run::Fields read_fields_if_sound(const fs::path& file) {
  try {
    if (fs::exists(file)) return run::read_fields(file);
  } catch (const std::exception&) {  // damaged, or removed in between
  }
  return no_fields();
}

/// Empty if the field is missing or of another type.
std::string text_of(const run::Fields& fields, const char* name) {
  const json value = fields.json().value(name, json());
  return value.is_string() ? value.get<std::string>() : "";
}

/// null if the field is missing or of another type.
json number_of(const run::Fields& fields, const char* name) {
  const json value = fields.json().value(name, json());
  return value.is_number() ? value : json();
}

double number_or_zero(const run::Fields& fields, const char* name) {
  const json value = number_of(fields, name);
  return value.is_null() ? 0 : value.get<double>();
}

}  // namespace

void RankProgress::add(const run::MetricsLine& line, double written) {
  last_ = line;
  written_ = written;
  if (line.iteration <= 2) recent_.clear(), seconds_ = 0;  // the first includes setup
  const double images = std::isnan(line.samples) ? 0 : line.samples;
  recent_.push_back({line.times.total, line.times.wait, images});
  seconds_ += line.times.total;
  while (recent_.size() > 1 && (seconds_ > kRecentSeconds || recent_.size() > kMostRecent)) {
    seconds_ -= recent_.front().seconds;
    recent_.pop_front();
  }
}

RankProgress::Recent RankProgress::recent() const {
  double seconds = 0, waited = 0, images = 0;
  for (const Iteration& iteration : recent_) {
    seconds += iteration.seconds;
    waited += iteration.waited;
    images += iteration.images;
  }
  if (!(seconds > 0)) return {};
  return {seconds / static_cast<double>(recent_.size()), images / seconds, waited / seconds};
}

FollowedRun::FollowedRun(fs::path folder)
    : folder_(std::move(folder)),
      lines_(folder_ / "metrics.jsonl", kMostMetrics),
      config_(no_fields()),
      summary_(no_fields()) {}

FollowedRun::Stamps FollowedRun::find_stamps() const {
  Stamps stamps{};
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    std::error_code missing;
    const auto time = fs::last_write_time(folder_ / kFiles[i], missing);
    if (!missing) stamps[i] = time;
  }
  return stamps;
}

std::string FollowedRun::find_state() const {
  constexpr Stamps::value_type kNone{};
  if (FolderLock::is_held(folder_)) return "running";
  if (stamps_[1] != kNone) return "ended";
  return stamps_[2] != kNone ? "failed" : "stopped";
}

void FollowedRun::read_files() {
  config_ = read_fields_if_sound(folder_ / "config.json");
  summary_ = read_fields_if_sound(folder_ / "summary.json");
  why_ = text_of(summary_, "stopped");
  endings_.clear();
  try {
    const fs::path file = folder_ / run::kPostMortemFile;
    if (!fs::exists(file)) return;
    const run::PostMortemRecord found = run::read_post_mortem_file(file);
    if (!found.verdict.empty()) why_ = found.verdict.front();
    for (const run::RankEnd& rank : found.ranks)
      endings_[static_cast<int>(rank.rank)] = rank.ending;
  } catch (const std::exception&) {  // damaged, or removed in between
  }
}

bool FollowedRun::read_metrics() {
  double written = now_seconds();
  bool first = true;
  run::MetricsLine parsed;
  return lines_.read(
      [this] { ranks_.clear(); },
      [&](std::string_view line) {
        if (std::exchange(first, false)) written -= seconds_since_change(folder_ / "metrics.jsonl");
        if (run::parse_metrics_line(line, parsed).empty() && parsed.kind == "iteration")
          ranks_[parsed.rank].add(parsed, written);
      });
}

void FollowedRun::refresh() {
  const Stamps stamps = find_stamps();
  bool changed = stamps != stamps_;
  if (changed) {
    stamps_ = stamps;
    read_files();
  }
  changed = read_metrics() || changed;
  if (std::string state = find_state(); state != state_) {
    state_ = std::move(state);
    changed = true;
  }
  if (changed) ++version_;
}

std::string FollowedRun::command() const {
  return text_of(config_, "command");
}

bool FollowedRun::takes_part(const RankProgress& rank) const {
  return std::none_of(ranks_.begin(), ranks_.end(), [&](const auto& other) {
    return other.second.written() > rank.written() + kLostAfter;
  });
}

/// How far the run came: sums and means over the ranks that take part.
void FollowedRun::add_progress(json& run) const {
  double iteration = 0, epoch = 0, slowest = 0, images = 0, loss = 0, weights = 0, written = 0;
  for (const auto& [number, rank] : ranks_) {
    if (!takes_part(rank)) continue;
    const RankProgress::Recent recent = rank.recent();
    const run::MetricsLine& last = rank.last();
    const double weight = std::isnan(last.samples) ? 1 : last.samples;
    iteration = std::max(iteration, last.iteration);
    epoch = std::max(epoch, last.epoch);
    slowest = std::max(slowest, recent.seconds_per_iteration);
    images += recent.images_per_second;
    loss += weight * last.loss;
    weights += weight;
    written = std::max(written, rank.written());
  }
  const double planned = number_or_zero(config_, "planned_iterations");
  run.update({{"iteration", iteration},
              {"epoch", epoch},
              {"images_per_second", images},
              {"seconds_left", std::max(planned - iteration, 0.0) * slowest},
              {"loss", weights > 0 ? json(loss / weights) : json()},
              {"age", written > 0 ? json(now_seconds() - written) : json()}});
}

json FollowedRun::to_json() const {
  json run{{"state", state_},
           {"why", why_},
           {"version", version_},
           {"command", command()},
           {"iterations", number_of(config_, "planned_iterations")},
           {"epochs", number_of(config_, "epochs")},
           {"workers", number_of(config_, "workers")},
           {"test_accuracy", number_of(summary_, "test_accuracy")}};
  add_progress(run);
  if (state_ != "ended") return run;
  run["images_per_second"] = number_of(summary_, "images_per_second");
  run["loss"] = number_of(summary_, "train_loss");
  return run;
}

json FollowedRun::ranks_json() const {
  std::set<int> numbers;
  const auto workers =
      static_cast<int>(std::clamp(number_or_zero(config_, "workers"), 0.0, kMostRanks));
  for (int rank = 0; rank < workers; ++rank) numbers.insert(rank);
  for (const auto& [rank, progress] : ranks_) numbers.insert(rank);
  json ranks = json::array();
  for (const int number : numbers) {
    json& rank = ranks.emplace_back(json{{"rank", number}});
    if (const auto ending = endings_.find(number); ending != endings_.end())
      rank["ending"] = ending->second;
    const auto found = ranks_.find(number);
    if (found == ranks_.end()) continue;
    const RankProgress::Recent recent = found->second.recent();
    rank.update({{"iteration", found->second.last().iteration},
                 {"seconds_per_iteration", recent.seconds_per_iteration},
                 {"waiting", recent.waiting},
                 {"age", now_seconds() - found->second.written()}});
  }
  return ranks;
}

}  // namespace lockstep::internal::watch
