// lockstep train: one model, one sync method.
#include <lockstep/error.h>
#include <lockstep/init.h>

#include "cli/command.h"
#include "cli/control_options.h"
#include "cli/leave_report.h"
#include "cli/output.h"
#include "cli/post_mortem.h"
#include "cli/restarts.h"
#include "cli/run_training.h"
#include "cli/stop_request.h"
#include "cli/train_options.h"
#include "cli/waiting_notice.h"
#include "launch/environment.h"
#include "sync/sync_method.h"
#include "train/checkpoint.h"
#include "train/elastic.h"
#include "train/run_folder.h"
#include "train/slowdown.h"
#include "train/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

namespace lockstep::cli {

namespace {

struct TrainCommand {
  train::TrainConfig config;
  TrainView view;
  bool transport_given = false;
  /// Given by the train that started this one under mpirun, and that shows the result: how this one
  /// is to show its progress.
  std::string progress;
};

ProgressStyle style_for(const TrainView& view) {
  if (view.json == "-") return ProgressStyle::silent;
  return on_terminal() ? ProgressStyle::lines_and_bar : ProgressStyle::lines;
}

/// A worker writes to its launcher, not to a terminal: a bar only if that one asks for it.
ProgressStyle worker_style(const TrainCommand& command) {
  if (!command.progress.empty()) return parse_progress_style(command.progress);
  return command.view.json == "-" ? ProgressStyle::silent : ProgressStyle::lines;
}

void print_summary(const train::Summary& summary, const train::TrainConfig& config) {
  put(stdout, "{} iterations in {:.2f} s: {:.5f} s/iteration (median), {:.0f} images/s\n",
      summary.iterations, summary.seconds_total, summary.seconds_per_iteration.p50,
      summary.images_per_second);
  put(stdout, "train loss {:.4f}, accuracy {:.2f} %; test loss {:.4f}, accuracy {:.2f} %\n",
      summary.train_loss, 100 * summary.train_accuracy, summary.test_loss,
      100 * summary.test_accuracy);
  if (!summary.stopped.empty()) put(stdout, "stopped early: {}\n", summary.stopped);
  put(stdout, "{}\n", summary.verdict);
  put(stdout, "weights {}; the run is recorded in {}\n", summary.weights_sha256.substr(0, 16),
      config.run_dir.string());
}

/// Trains, and prints what came out where results are `shown`, which is asked when it has ended; a
/// run that is cut short leaves a report, too.
train::Summary with_report(const TrainCommand& command, const std::function<bool()>& shown,
                           const std::function<train::Summary()>& train) {
  const bool printed = command.view.json != "-";
  const auto leave = [&] {
    if (!shown()) return;
    leave_tensorboard(command.config.run_dir, command.view.tensorboard);
    leave_report(command.config.run_dir, printed);
  };
  try {
    train::Summary summary = train();
    if (shown() && printed) print_summary(summary, command.config);
    leave();
    return summary;
  } catch (...) {
    leave();
    throw;
  }
}

/// What starts as many workers again, on one machine.
std::string launch_command(const Group& group, const std::string& command) {
  const bool mpi = group.transport() == "mpi" || group.transport() == "shm+mpi";
  return fmt::format("{} {} {}", mpi ? "mpirun -n" : "lockstep launch --workers", group.size(),
                     mpi ? command : "-- " + command);
}

/// Studies have worlds of several sizes, and slow the rank down where there is one. Here it must
/// be.
void require_slow_rank(const train::TrainConfig& config, int workers) {
  if (train::Slowdown::parse(config.slow).rank >= workers)
    throw UsageError(fmt::format("--slow is '{}': there is no such rank among {}", config.slow,
                                 workers == 1 ? "1 worker" : fmt::format("{} workers", workers)));
}

/// That the run can begin in its folder, or go on there.
void require_ready(const train::TrainConfig& config) {
  train::lock_run_folder(config.run_dir);  // and let go: it is for the workers
  if (config.restarted) return;            // whichever the workers will do
  if (config.resume)
    train::read_newest_checkpoint(config);
  else
    train::require_no_checkpoints(config.run_dir);
}

/// The train that started this one under mpirun speaks for all, and passes on what counts.
StopRequestOptions stop_requests_of(int rank, const TrainCommand& command) {
  if (!command.progress.empty()) return kBelowParent;
  return {.announced = rank == 0};
}

/// Started by a launcher: this process is one worker of the run.
void train_as_worker(TrainCommand& command) {
  hold_stop_requests();
  GroupOptions options;
  if (command.transport_given) options.transport = command.config.transport;
  Group group = [&] {
    const WaitingNotice notice("lockstep train");
    return init(options);
  }();
  catch_stop_requests(stop_requests_of(group.rank(), command));
  command.config.workers = group.size();
  command.config.transport = group.transport();
  const bool shows_result = group.rank() == 0 && command.progress.empty();
  if (shows_result && !command.config.resume && !command.config.restarted)
    remove_post_mortem(command.config.run_dir);
  if (command.progress.empty())
    command.config.command = launch_command(group, command.config.command);
  const auto progress = make_progress(worker_style(command), command.view.log_every);
  const auto shown = [&] { return shows_result; };
  const train::Summary summary = with_report(command, shown, [&] {
    return train::train_worker(group, command.config, *progress, &stop_requested);
  });
  if (shows_result) write_json(command.view.json, train::to_json(summary));
}

/// The same in a run that goes on without workers that it loses: whoever is first in the end shows
/// the result.
void train_as_elastic_worker(TrainCommand& command) {
  hold_stop_requests();
  train::TrainConfig& config = command.config;
  if (!command.transport_given) config.transport = "auto";
  std::optional<WaitingNotice> notice(std::in_place, "lockstep train");
  launch::Muster muster = make_muster(config, config.transport);
  // Asked when there is a group, and by a worker that waits to be let in: both can stop in order.
  const auto stop_asked = [&] {
    notice.reset();
    catch_stop_requests(stop_requests_of(muster.number(), command));
    return stop_requested();
  };
  if (muster.joins()) stop_asked();
  config.run_dir = muster.agree_on("run folder", config.run_dir.string());
  config.command =
      fmt::format("lockstep launch --elastic --workers {} -- {}", config.workers, config.command);
  const auto progress = make_progress(worker_style(command), command.view.log_every);
  const auto shown = [&] { return muster.is_first_member(); };
  const train::Summary summary = with_report(
      command, shown, [&] { return train::train_elastic(muster, config, *progress, stop_asked); });
  if (shown()) write_json(command.view.json, train::to_json(summary));
}

/// Started by a launcher: how many workers the run has, or began with; none if there is no
/// launcher.
std::optional<int> launched_workers(const launch::Place& place, bool elastic) {
  const auto began_with = launch::elastic_workers();
  if (began_with && place.rank >= *began_with && !elastic)
    throw UsageError("this worker is to join a run that others began with --elastic: give it, too");
  if (began_with) return began_with;
  return place.size > 1 ? std::optional(place.size) : std::nullopt;
}

/// Once workers have ended, a first signal is only noted: the report is still to be written.
struct ReportsDespiteSignals {
  ReportsDespiteSignals() { block_stop_signals(); }
  ~ReportsDespiteSignals() { catch_stop_requests({.announced = false}); }
};

void train_with_workers(const TrainCommand& command) {
  const train::Summary summary = with_report(
      command, [] { return true; },
      [&] {
        const ReportsDespiteSignals signals;
        return run_training(command.config, style_for(command.view), command.view.log_every, stdout,
                            OnInterrupt::checkpoint);
      });
  write_json(command.view.json, train::to_json(summary));
}

}  // namespace

void add_train_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("train", "train one model with one sync method");
  auto options = std::make_shared<TrainCommand>();
  add_train_options(*command, options->config, options->view);
  command
      ->add_option("--sync", options->config.sync,
                   "how gradients are kept equal: " +
                       fmt::format("{}", fmt::join(sync::method_names(), ", ")))
      ->capture_default_str();
  command->add_option("--save", options->config.save, "write the final weights here (safetensors)");
  command
      ->add_option("--checkpoint-every", options->config.checkpoint_every,
                   "write a checkpoint to the run folder every N iterations; 0 for none")
      ->capture_default_str();
  command
      ->add_option("--keep-checkpoints", options->config.keep_checkpoints,
                   "how many of the newest checkpoints are kept")
      ->capture_default_str();
  command
      ->add_option("--checkpoint-errors", options->config.checkpoint_errors,
                   "if a checkpoint cannot be written, on a full disk say: stop, or continue")
      ->capture_default_str();
  command
      ->add_option("--restarts", options->config.restarts,
                   "when a worker dies, start all again from the newest checkpoint, up to N times")
      ->capture_default_str();
  command->add_flag("--elastic", options->config.elastic,
                    "when a worker dies, the others take over its shards and go on from what they "
                    "have in memory; needs --shards");
  command
      ->add_option("--min-workers", options->config.min_workers,
                   "end an --elastic run, with a checkpoint, if fewer workers are left")
      ->capture_default_str();
  command
      ->add_option("--hang-timeout", options->config.hang_timeout,
                   "seconds after which an --elastic run goes on without a worker that hangs")
      ->capture_default_str();
  command->add_flag("--resume", options->config.resume,
                    "go on from the newest checkpoint of --run-dir");
  add_control_options(*command, options->config.control);
  command->add_option("--mistake", options->config.mistake,
                      "make a classic mistake on purpose, to see what it does: " +
                          fmt::format("{}", fmt::join(train::mistake_names(), ", ")));
  // Not for users: hidden.
  command->add_option("--progress", options->progress)->group("");
  command->add_option("--command", options->config.command)->group("");
  command->callback([command, options, &code] {
    options->transport_given = command->count("--transport") > 0;
    // Workers that are not started by the user say who they are like forked ones.
    const std::string name = options->progress.empty() ? "lockstep train" : "lockstep";
    launch::Place place;
    try {
      place = launch::find_place();
      const auto launched = launched_workers(place, options->config.elastic);
      if (launched && command->count("--workers") > 0)
        throw UsageError(
            "--workers contradicts the launcher that started this process: leave it out");
      if (launched && options->config.restarts > 0)
        throw UsageError(
            "--restarts is for what starts the workers: give it to lockstep launch instead");
      options->config.restarted = launch::restarts_so_far() > 0;
      if (options->config.resume) {
        if (options->config.run_dir.empty())
          throw UsageError("--resume needs --run-dir: the folder of the run that is to go on");
      }
      // Better now than after the workers have come together. Rank 0 may be the only one that can
      // see the folder.
      if (!options->config.run_dir.empty() && place.rank == 0) require_ready(options->config);
      if (options->config.run_dir.empty()) options->config.run_dir = default_run_dir("train");
      if (launched) options->config.workers = *launched;
      finish_train_options(*command, options->config, options->view);
      require_slow_rank(options->config, options->config.workers);
      if (launched && options->config.elastic)
        train_as_elastic_worker(*options);
      else if (launched)
        train_as_worker(*options);
      else
        train_with_workers(*options);
    } catch (const train::StoppedError&) {
      code = report_exception(name);
      if (place.bootstrap == launch::Bootstrap::launcher) code = kStopped;
    } catch (...) {
      code = report_exception(name);
    }
  });
}

}  // namespace lockstep::cli
