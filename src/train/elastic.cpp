#include "train/elastic.h"

#include "base/files.h"
#include "sync/share_text.h"
#include "train/metrics_file.h"
#include "train/run_folder.h"
#include "train/same_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace lockstep::train {

namespace {

constexpr const char* kMemory = "what another worker has in memory";

void share_numbers(Group& group, std::vector<double>& numbers, int root) {
  std::vector<std::int64_t> count{static_cast<std::int64_t>(numbers.size())};
  group.broadcast(count, root);
  numbers.resize(static_cast<std::size_t>(count[0]));
  group.broadcast(numbers, root);
}

/// The newest iterations, which rank 0 may not have written down.
void keep_rows(const TrainConfig& config, const Carried& carried) {
  if (carried.rows.empty()) return;
  const std::filesystem::path file = config.run_dir / "metrics.jsonl";
  const auto first = static_cast<std::size_t>(carried.rows.front().front().iteration);
  std::string lines = lines_until(file, carried.checkpoint.iteration,
                                  std::numeric_limits<std::size_t>::max(), first);
  for (const Row& row : carried.rows)
    for (std::size_t rank = 0; rank < row.size(); ++rank)
      lines += metrics_line("iteration", static_cast<int>(rank), row[rank]).dump() + "\n";
  write_file(file, lines);
}

/// One that hangs, and that the others went on without, may have it, and still keeps other runs
/// out.
std::optional<FolderLock> lock_if_free(const std::filesystem::path& folder) {
  try {
    return lock_run_folder(folder);
  } catch (const FileError&) {
    return std::nullopt;
  }
}

/// From one group to the next, until the run ends.
class Course {
 public:
  Course(launch::Muster& muster, const TrainConfig& config, Progress& progress,
         const StopAsked& stop_asked)
      : muster_(muster), config_(config), progress_(progress), asked_(stop_asked) {
    elastic_.dataset = open_same_job(muster, config);
    stop_asked_ = [&muster, stop_asked] {
      return (stop_asked && stop_asked()) || (muster.is_first_member() && muster.stop_asked());
    };
    elastic_.someone_waits = [this] { return muster_.someone_waits(); };
    elastic_.done = [this] { muster_.done(); };
  }

  Summary run() {
    if (muster_.joins())
      progress_.notice(fmt::format("rank {} waits until the others let it in", muster_.number()));
    for (bool first = true;; first = false) {
      try {
        return train_in(first ? muster_.first(stop_asked_) : muster_.again(suspect_));
      } catch (const PeerLostError& lost) {
        suspect_ = lost.rank();
      } catch (const TimeoutError& late) {
        suspect_ = late.rank();
      } catch (const RegroupError&) {
        suspect_ = -1;
      } catch (const launch::TooFewError& few) {
        if (!muster_.is_first_member()) throw;
        const std::string all = few.what() + keep_carried(config_, elastic_.carried);
        end(few.what());
        throw launch::TooFewError(all);
      } catch (const launch::GaveUpError& stopped) {
        throw StoppedError(stopped.what());
      } catch (const launch::LeftBehindError&) {
        throw;  // the run is the others' now
      } catch (const launch::RendezvousLostError&) {
        throw;  // as it may be, and nobody can be told
      } catch (const launch::RunDoneError&) {
        // Whoever is first shows it, though another may have written it.
        if (!muster_.is_first_member() || config_.run_dir.empty()) return {};
        return read_summary(config_.run_dir);
      } catch (const std::exception& error) {
        // Nor would the others come further. But who was only let in does not end their run.
        if (elastic_.trained) end(error.what());
        throw;
      }
    }
  }

 private:
  Summary train_in(Group group) {
    if (asked_) asked_();  // from now on a run can stop in good order
    elastic_.change = muster_.change();
    elastic_.members = muster_.members();
    bring_to_newest(group, config_, elastic_.carried);
    if (!elastic_.carried && muster_.all_joined()) give_up_without_state();
    return train_worker(std::move(group), config_, progress_, stop_asked_, &elastic_);
  }

  /// Those that began the run were lost before they told anyone of it. A beginning is not for who
  /// joins.
  void give_up_without_state() {
    const std::string why = "all workers that knew what the run has learnt are lost";
    end(why);
    throw Error(why + ": start it again, with --resume if it has checkpoints");
  }

  /// Whatever there is to say has been said: that nobody hears it must not take its place.
  void end(const std::string& why) {
    try {
      muster_.end(why);
    } catch (const Error&) {
    }
  }

  launch::Muster& muster_;
  const TrainConfig& config_;
  Progress& progress_;
  const StopAsked asked_;  ///< of this process; stop_asked_ is of the run
  StopAsked stop_asked_;
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

std::string keep_carried(const TrainConfig& config, const std::optional<Carried>& carried) {
  if (!carried || config.run_dir.empty()) return "";
  const auto lock = lock_if_free(config.run_dir);
  try {
    keep_rows(config, *carried);
    const auto file = write_checkpoint(config, carried->checkpoint);
    return fmt::format(
        ". {} has all that was learnt: give the same command again with --resume "
        "--run-dir {} to go on",
        file.string(), config.run_dir.string());
  } catch (const FileError& error) {
    return fmt::format(". There is no checkpoint of it: {}", error.what());
  }
}

Summary train_elastic(launch::Muster& muster, const TrainConfig& config, Progress& progress,
                      const StopAsked& stop_asked) {
  return Course(muster, config, progress, stop_asked).run();
}

}  // namespace lockstep::train
