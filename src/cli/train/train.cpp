// lockstep train: one model, one sync method.
#include <lockstep/error.h>
#include <lockstep/init.h>

#include "base/host_name.h"
#include "cli/command.h"
#include "cli/leave_report.h"
#include "cli/options_page.h"
#include "cli/output.h"
#include "cli/post_mortem.h"
#include "cli/print_summary.h"
#include "cli/restarts.h"
#include "cli/shipped_data.h"
#include "cli/stop_request.h"
#include "cli/train/run_training.h"
#include "cli/train/train_options.h"
#include "cli/waiting_notice.h"
#include "comm/purpose.h"
#include "engine/make_engine.h"
#include "launch/environment/environment.h"
#include "run/run_folder.h"
#include "sync/broadcast_text.h"
#include "train/checkpoint/checkpoint.h"
#include "train/config/options.h"
#include "train/config/slowdown.h"
#include "train/train_elastic.h"
#include "train/train_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace lockstep::internal::cli {

namespace {

struct TrainCommand {
  train::TrainConfig config;
  std::optional<CommandOptions> options;
  bool transport_given = false;
  /// How to show progress; set by the process that started this one under mpirun. That process
  /// shows the result.
  std::string progress;
};

ProgressStyle style_for(const train::TrainConfig& config) {
  if (config.json == "-") return ProgressStyle::silent;
  return on_terminal() ? ProgressStyle::lines_and_bar : ProgressStyle::lines;
}

/// A worker writes to its launcher, which decides whether there is a bar.
ProgressStyle worker_style(const TrainCommand& command) {
  if (!command.progress.empty()) return parse_progress_style(command.progress);
  return command.config.json == "-" ? ProgressStyle::silent : ProgressStyle::lines;
}

/// Trains. A process for which `shown` returns true after that prints the summary and writes the
/// report; a run that failed or was stopped has a report too.
run::Summary with_report(const TrainCommand& command, const std::function<bool()>& shown,
                         const std::function<run::Summary()>& train) {
  const bool printed = command.config.json != "-";
  const auto leave = [&] {
    if (!shown()) return;
    leave_tensorboard(command.config.run_dir, command.config.tensorboard);
    leave_report(command.config.run_dir, printed);
  };
  try {
    run::Summary summary = train();
    if (shown() && printed)
      print_summary(summary, command.config.run_dir, command.config.epochs_table);
    leave();
    return summary;
  } catch (...) {
    leave();
    throw;
  }
}

/// The command that starts as many workers again, on one machine.
std::string launch_command(const Group& group, const std::string& command) {
  const bool mpi = group.transport() == "mpi" || group.transport() == "shm+mpi";
  return fmt::format("{} {} {}", mpi ? "mpirun -n" : "lockstep launch --workers", group.size(),
                     mpi ? command : "-- " + command);
}

/// Throws UsageError if --slow names a rank that does not exist. Studies do not check this: their
/// smaller worlds may lack the rank.
void require_slow_rank(const train::TrainConfig& config, int workers) {
  if (train::Slowdown::parse(config.slow).rank >= workers)
    throw UsageError(fmt::format("--slow is '{}': there is no such rank among {}", config.slow,
                                 workers == 1 ? "1 worker" : fmt::format("{} workers", workers)));
}

/// Throws unless the run can start or resume in its folder.
void require_ready(const train::TrainConfig& config) {
  run::lock_run_folder(config.run_dir);  // released at once, because the workers lock it
  if (config.restarted) return;          // the workers resume if they can
  if (config.resume)
    train::read_newest_checkpoint(config);
  else
    train::require_no_checkpoints(config.run_dir);
}

/// Under mpirun the process that started it prints the messages and forwards the signals.
StopRequestOptions stop_requests_of(int rank, const TrainCommand& command) {
  if (!command.progress.empty()) return kBelowParent;
  return {.announced = rank == 0};
}

/// On other hosts than rank 0's, where only rank 0 writes. Printed once for each host or node.
void announce_output(const TrainCommand& command, int rank, const std::string& host,
                     const std::string& folder) {
  if (rank == 0 || launch::find_place().local_rank != 0) return;
  if (!command.progress.empty() || command.config.json == "-") return;
  put(stdout, "rank 0 prints the results of this run and records it, on {} in {}\n", host, folder);
  std::fflush(stdout);
}

/// Trains as one worker of a run that a launcher started.
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
  {
    const comm::PurposeMark mark(comm::Purpose::agreement);
    std::string host = host_name();
    std::string folder = std::filesystem::absolute(command.config.run_dir).string();
    sync::broadcast_text(group, host);
    sync::broadcast_text(group, folder);
    announce_output(command, group.rank(), host, folder);
  }
  const bool shows_result = group.rank() == 0 && command.progress.empty();
  if (shows_result && !command.config.resume && !command.config.restarted)
    remove_post_mortem(command.config.run_dir);
  if (command.progress.empty())
    command.config.command = launch_command(group, command.config.command);
  const auto progress = make_progress(worker_style(command), command.config.log_every);
  const auto shown = [&] { return shows_result; };
  const run::Summary summary = with_report(command, shown, [&] {
    return train::train_worker(group, engine::built_in_engines(), command.config, *progress,
                               &stop_requested);
  });
  if (shows_result) write_json(command.config.json, run::to_json(summary));
}

/// Trains as one worker of an elastic run. The member that is first at the end shows the result.
void train_as_elastic_worker(TrainCommand& command) {
  hold_stop_requests();
  train::TrainConfig& config = command.config;
  if (!command.transport_given) config.transport = "auto";
  std::optional<WaitingNotice> notice(std::in_place, "lockstep train");
  launch::ElasticMembership membership = make_membership(config, config.transport);
  // Called by members of a group and by workers that wait for admission: both can stop in order.
  const auto stop_asked = [&] {
    notice.reset();
    catch_stop_requests(stop_requests_of(membership.number(), command));
    return stop_requested();
  };
  if (membership.joins()) stop_asked();
  config.run_dir = membership.agree_on("run folder", config.run_dir.string());
  announce_output(command, membership.number(), membership.agree_on("host", host_name()),
                  config.run_dir.string());
  config.command =
      fmt::format("lockstep launch --elastic --workers {} -- {}", config.workers, config.command);
  const auto progress = make_progress(worker_style(command), command.config.log_every);
  const auto shown = [&] { return membership.is_first_member(); };
  const run::Summary summary = with_report(command, shown, [&] {
    return train::train_elastic(membership, engine::built_in_engines(), config, *progress,
                                stop_asked);
  });
  if (shown()) write_json(command.config.json, run::to_json(summary));
}

/// How many workers the launcher of this process has started; an elastic run may have more or fewer
/// by now. None if there is no launcher.
std::optional<int> launched_workers(const launch::Place& place) {
  if (const auto began_with = launch::elastic_workers()) return began_with;
  return place.size > 1 ? std::optional(place.size) : std::nullopt;
}

/// After the workers have ended, a first signal does not end the process, which still writes the
/// report.
struct ReportsDespiteSignals {
  ReportsDespiteSignals() { block_stop_signals(); }
  ~ReportsDespiteSignals() { catch_stop_requests({.announced = false}); }
};

void train_with_workers(const TrainCommand& command) {
  const run::Summary summary = with_report(
      command, [] { return true; },
      [&] {
        const ReportsDespiteSignals signals;
        return run_training(command.config, style_for(command.config), stdout,
                            OnInterrupt::checkpoint);
      });
  write_json(command.config.json, run::to_json(summary));
}

/// Throws UsageError for options that contradict the launcher of this process.
void require_fit(const TrainCommand& command, const launch::Place& place, int launched) {
  const CommandOptions& given = *command.options;
  if (launch::elastic_workers() && place.rank >= launched && !command.config.elastic)
    throw UsageError(
        "this worker joins a run that was started with --elastic: give --elastic here as well");
  if (given.typed("--workers"))
    throw UsageError("--workers contradicts the launcher that started this process: leave it out");
  if (given.asked_for("--restarts") && command.config.restarts > 0)
    throw UsageError("--restarts is an option of the launcher: give it to lockstep launch instead");
}

/// Applies and checks the options of a process at this place.
void finish_options(TrainCommand& command, const launch::Place& place,
                    const std::optional<int>& launched) {
  CommandOptions& given = *command.options;
  train::TrainConfig& config = command.config;
  using Names = std::set<std::string>;
  given.finish(launched ? Names{"--workers", "--restarts"} : Names{});
  if (launched) {
    require_fit(command, place, *launched);
    config.workers = *launched;
  }
  command.transport_given = given.asked_for("--transport");
  config.restarted = launch::restarts_so_far() > 0;
  if (config.resume && config.run_dir.empty())
    throw UsageError("--resume needs --run-dir: the folder of the run to resume");
  resolve_training_length(given, config);  // a checkpoint of another length cannot be resumed
  // Before the workers meet. The folder may exist on the host of rank 0 only.
  if (!config.run_dir.empty() && place.rank == 0) require_ready(config);
  if (config.run_dir.empty()) config.run_dir = default_run_dir("train");
  finish_train_options(given, config);
  if (place.rank == 0 || config.elastic) require_writable_results(config);
  require_slow_rank(config, config.workers);
}

}  // namespace

void add_train_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("train", kTrainSummary);
  auto options = std::make_shared<TrainCommand>();
  options->config.data_dir = shipped_data();
  options->options.emplace(*command, run::Options(), train::options_of(options->config),
                           run::kTrain);
  // Internal: hidden from users.
  command->add_option("--progress", options->progress)->group("");
  add_options_page_flag(*command);
  command->callback([options, &code] {
    // Messages of workers that mpirun started begin like those of forked ones.
    const std::string name = options->progress.empty() ? "lockstep train" : "lockstep";
    launch::Place place;
    try {
      place = launch::find_place();
      const std::optional<int> launched = launched_workers(place);
      finish_options(*options, place, launched);
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

}  // namespace lockstep::internal::cli
