#include "train/train_elastic.h"

#include "run/run_folder.h"
#include "train/config/same_job.h"
#include "train/elastic/elastic_member.h"
#include "train/train_worker.h"

#include <fmt/format.h>

namespace lockstep::internal::train {

namespace {

/// One worker's way through the groups of a run.
class ElasticRun {
 public:
  ElasticRun(launch::ElasticMembership& membership, const engine::Engines& engines,
             const TrainConfig& config, Progress& progress, const StopAsked& stop_asked)
      : membership_(membership),
        engines_(engines),
        config_(config),
        progress_(progress),
        process_stop_asked_(stop_asked) {
    member_.dataset = open_same_job(membership, config);
    run_stop_asked_ = [&membership, stop_asked] {
      return (stop_asked && stop_asked()) ||
             (membership.is_first_member() && membership.stop_asked());
    };
    member_.worker_waiting = [this] { return membership_.someone_waits(); };
    member_.results_written = [this] { membership_.done(); };
  }

  run::Summary run() {
    if (membership_.joins())
      progress_.notice(
          fmt::format("rank {} waits to be admitted to the run", membership_.number()));
    for (bool first = true;; first = false) {
      try {
        return train_in(first ? membership_.first(run_stop_asked_) : membership_.again(suspect_));
      } catch (const PeerLostError& lost) {
        suspect_ = lost.rank();
      } catch (const TimeoutError& late) {
        suspect_ = late.rank();
      } catch (const RegroupError&) {
        suspect_ = -1;
      } catch (const launch::TooFewError& few) {
        if (!membership_.is_first_member()) throw;
        const std::string all = few.what() + save_run_state(config_, member_.state);
        end(few.what());
        throw launch::TooFewError(all);
      } catch (const launch::GaveUpError& stopped) {
        throw StoppedError(stopped.what());
      } catch (const launch::LeftBehindError&) {
        throw;  // the run continues without this worker
      } catch (const launch::RendezvousLostError&) {
        throw;  // the other workers cannot be notified
      } catch (const launch::RunDoneError&) {
        // The first worker shows the summary, even if another one wrote it.
        if (!membership_.is_first_member() || config_.run_dir.empty()) return {};
        return run::read_summary(config_.run_dir);
      } catch (const std::exception& error) {
        // Other workers would fail too; but a worker that only joined does not end their run.
        if (member_.has_trained) end(error.what());
        throw;
      }
    }
  }

 private:
  run::Summary train_in(Group group) {
    if (process_stop_asked_) process_stop_asked_();  // from now on a run can stop in good order
    member_.change = membership_.change();
    member_.workers = membership_.members();
    broadcast_newest_state(group, config_, member_.state);
    if (!member_.state && membership_.all_joined()) give_up_without_state();
    return train_worker(std::move(group), engines_, config_, progress_, run_stop_asked_, &member_);
  }

  /// All workers of this group joined late, and those that had the run's state are lost.
  void give_up_without_state() {
    const std::string why = "all workers that had the state of the run are lost";
    end(why);
    throw Error(why + ": start it again, with --resume if it has checkpoints");
  }

  /// Ends the run for all workers. If they cannot be notified, the original error still counts.
  void end(const std::string& why) {
    try {
      membership_.end(why);
    } catch (const Error&) {
    }
  }

  launch::ElasticMembership& membership_;
  const engine::Engines& engines_;
  const TrainConfig& config_;
  Progress& progress_;
  const StopAsked process_stop_asked_;  ///< whether this process was asked to stop
  StopAsked run_stop_asked_;            ///< whether this process or the whole run was
  ElasticMember member_;
  int suspect_ = -1;  ///< rank that the last group failed because of; -1 for none
};

}  // namespace

run::Summary train_elastic(launch::ElasticMembership& membership, const engine::Engines& engines,
                           const TrainConfig& config, Progress& progress,
                           const StopAsked& stop_asked) {
  return ElasticRun(membership, engines, config, progress, stop_asked).run();
}

}  // namespace lockstep::internal::train
