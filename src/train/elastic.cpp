#include "train/elastic.h"

#include "sync/share_text.h"
#include "train/run_folder.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::train {

namespace {

constexpr const char* kMemory = "what another worker has in memory";

void share_numbers(Group& group, std::vector<double>& numbers, int root) {
  std::vector<std::int64_t> count{static_cast<std::int64_t>(numbers.size())};
  group.broadcast(count, root);
  numbers.resize(static_cast<std::size_t>(count[0]));
  group.broadcast(numbers, root);
}

/// Who joins must have been started like the others. Throws UsageError that names an option.
void require_same_job(launch::Muster& muster, const TrainConfig& config) {
  nlohmann::json mine = to_json(config);
  for (const char* here : {"data_dir", "init", "restarts"}) mine.erase(here);
  const auto run = nlohmann::json::parse(muster.agree_on("job", mine.dump()));
  for (const auto& [name, value] : mine.items())
    if (run.value(name, nlohmann::json()) != value)
      throw UsageError(
          fmt::format("the run has {} {}, and this worker {}: start it with the same options", name,
                      run.value(name, nlohmann::json()).dump(), value.dump()));
}

/// What is left is worth keeping.
std::string keep(const TrainConfig& config, const std::optional<Carried>& carried) {
  if (!carried || config.run_dir.empty()) return "";
  try {
    const auto lock = lock_run_folder(config.run_dir);
    const auto file = write_checkpoint(config, carried->checkpoint);
    return fmt::format(
        ". {} has all that was learnt: give the same command again with --resume "
        "--run-dir {} to go on",
        file.string(), config.run_dir.string());
  } catch (const FileError& error) {
    return fmt::format(". There is no checkpoint of it: {}", error.what());
  }
}

/// From one group to the next, until the run ends.
class Course {
 public:
  Course(launch::Muster& muster, const TrainConfig& config, Progress& progress,
         const StopAsked& stop_asked)
      : muster_(muster), config_(config), progress_(progress), stop_asked_(stop_asked) {
    elastic_.someone_waits = [this] { return muster_.someone_waits(); };
    elastic_.done = [this] { muster_.done(); };
  }

  Summary run() {
    for (bool first = true;; first = false) {
      try {
        return train_in(first ? muster_.first() : muster_.again(suspect_));
      } catch (const PeerLostError& lost) {
        suspect_ = lost.rank();
      } catch (const TimeoutError& late) {
        suspect_ = late.rank();
      } catch (const RegroupError&) {
        suspect_ = -1;
      } catch (const launch::TooFewError& few) {
        throw launch::TooFewError(
            few.what() + (muster_.is_first_member() ? keep(config_, elastic_.carried) : ""));
      } catch (const launch::RunDoneError&) {
        return {};
      } catch (const std::exception& error) {
        // Nor would the others come further. But who joins does not end a run that it is not in.
        if (elastic_.carried) muster_.end(error.what());
        throw;
      }
    }
  }

 private:
  Summary train_in(Group group) {
    elastic_.change = muster_.change();
    bring_to_newest(group, config_, elastic_.carried);
    return train_worker(std::move(group), config_, progress_, stop_asked_, &elastic_);
  }

  launch::Muster& muster_;
  const TrainConfig& config_;
  Progress& progress_;
  const StopAsked& stop_asked_;
  Elastic elastic_;
  int suspect_ = -1;
};

}  // namespace

void bring_to_newest(Group& group, const TrainConfig& config, std::optional<Carried>& carried) {
  const double mine = carried ? static_cast<double>(carried->checkpoint.iteration) : -1;
  std::vector<double> steps(static_cast<std::size_t>(group.size()));
  group.all_gather(std::vector<double>{mine}, steps);
  const auto furthest = std::max_element(steps.begin(), steps.end());
  if (*std::min_element(steps.begin(), steps.end()) == *furthest) return;
  const int root = static_cast<int>(furthest - steps.begin());
  std::string text;
  std::vector<double> rows;
  if (group.rank() == root) {
    text = format_checkpoint(config, carried->checkpoint, kMemory);
    rows = to_numbers(carried->rows);
  }
  sync::share_text(group, text, root);
  share_numbers(group, rows, root);
  if (mine < *furthest) carried = Carried{parse_checkpoint(text, kMemory, config), rows_from(rows)};
}

Summary train_elastic(launch::Muster& muster, const TrainConfig& config, Progress& progress,
                      const StopAsked& stop_asked) {
  require_same_job(muster, config);
  return Course(muster, config, progress, stop_asked).run();
}

}  // namespace lockstep::train
