#include "cli/train/run_training.h"

#include <lockstep/error.h>
#include <lockstep/init.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/post_mortem.h"
#include "cli/restarts.h"
#include "cli/stop_request.h"
#include "cli/this_program.h"
#include "engine/make_engine.h"
#include "launch/job.h"
#include "run/continuing.h"
#include "run/run_folder.h"
#include "train/checkpoint/checkpoint.h"
#include "train/config/options.h"
#include "train/config/training_length.h"
#include "train/train_elastic.h"
#include "train/train_worker.h"

#include <fmt/format.h>

namespace lockstep::internal::cli {

namespace {

/// The result catches signals when it is first called, which is when there is a group. Until then
/// signals end the process.
train::StopAsked prepare_for(OnInterrupt on_interrupt, const StopRequestOptions& options) {
  if (on_interrupt == OnInterrupt::end) return {};
  hold_stop_requests();
  return [options] {
    catch_stop_requests(options);
    return stop_requested();
  };
}

void run_threads_training(const train::TrainConfig& config, ProgressStyle style, std::FILE* out,
                          OnInterrupt on_interrupt) {
  const train::StopAsked stop_asked = prepare_for(on_interrupt, {});
  if (stop_asked) stop_asked();
  run_threads(config.workers, [&](Group group) {
    const auto progress = make_progress(style, config.log_every, out);
    train::train_worker(std::move(group), engine::built_in_engines(), config, *progress,
                        stop_asked);
  });
}

void require_success(const launch::JobResult& result, const train::TrainConfig& config,
                     OnInterrupt on_interrupt) {
  if (result.interrupted_by != 0) {
    // An interrupt after the end of the training does not count.
    if (!result.first_failure && std::filesystem::exists(config.run_dir / "summary.json")) return;
    throw Error("interrupted");
  }
  if (!result.first_failure) return;
  const std::string what = fmt::format("the run failed: {}", result.first_failure->text());
  if (result.first_failure->code() == kBadUsage) throw UsageError(what);
  const bool resumable = on_interrupt == OnInterrupt::checkpoint && may_start_again(result);
  throw Error(resumable ? fmt::format("{}. {}", what, run::how_to_continue(config.run_dir, true))
                        : what);
}

std::chrono::milliseconds hang_timeout(const train::TrainConfig& config) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(1000 * config.hang_timeout));
}

launch::JobOptions job_for(const train::TrainConfig& config, OnInterrupt on_interrupt) {
  launch::JobOptions job{.workers = config.workers};
  job.nodes.elastic = config.elastic;
  if (config.elastic) job.overtime = hang_timeout(config);
  if (on_interrupt == OnInterrupt::end) return job;
  job.grace = std::chrono::seconds(60);  // for a step and a checkpoint
  job.interrupt_gently = true;
  job.interrupted = [](bool again) {
    leave_lost_terminal();
    announce_stop(again);
  };
  return job;
}

launch::JobResult run_processes_training(const train::TrainConfig& config, ProgressStyle style,
                                         std::FILE* out, OnInterrupt on_interrupt,
                                         const launch::NetworkHosts* hosts) {
  launch::JobOptions job = job_for(config, on_interrupt);
  job.hosts = hosts;
  return launch::run_forked(job, [&] {
    try {
      const train::StopAsked stop_asked = prepare_for(on_interrupt, kBelowParent);
      const auto progress = make_progress(style, config.log_every, out);
      if (config.elastic) {
        launch::ElasticMembership membership = make_membership(config, config.transport);
        train::train_elastic(membership, engine::built_in_engines(), config, *progress, stop_asked);
        return kSuccess;
      }
      const Group group = init({.transport = config.transport});
      if (stop_asked) stop_asked();
      train::TrainConfig mine = config;
      if (mine.transport == "auto") mine.transport = group.transport();
      train::train_worker(group, engine::built_in_engines(), mine, *progress, stop_asked);
      return kSuccess;
    } catch (const train::StoppedError&) {
      report_exception("lockstep");
      return kStopped;
    } catch (...) {
      return report_exception("lockstep");
    }
  });
}

launch::JobResult run_mpirun_training(const train::TrainConfig& config, ProgressStyle style,
                                      OnInterrupt on_interrupt) {
  std::vector<std::string> arguments = train::train_arguments(config);
  arguments.insert(arguments.end(), {"--progress", std::string(name_of(style))});
  return run_this_program_under_mpirun(job_for(config, on_interrupt), arguments);
}

void say_restart(const launch::JobResult& ended, int restart, const train::TrainConfig& config) {
  const std::string from = config.resume
                               ? train::newest_checkpoint(config.run_dir).string()
                               : "the beginning, since there is no checkpoint (--checkpoint-every)";
  put(stderr, "lockstep: {}: starting again from {} ({} of {})\n",
      ended.first_failure ? ended.first_failure->text() : "the run failed", from, restart,
      config.restarts);
}

void run_workers_training(const train::TrainConfig& config, ProgressStyle style, std::FILE* out,
                          OnInterrupt on_interrupt, const launch::NetworkHosts* hosts) {
  train::TrainConfig now = config;
  const auto run = [&](int) {
    launch::JobResult result = needs_mpirun(now.transport, now.workers)
                                   ? run_mpirun_training(now, style, on_interrupt)
                                   : run_processes_training(now, style, out, on_interrupt, hosts);
    put(stderr, "{}", leave_post_mortem(result, "lockstep: ", now.run_dir));
    return result;
  };
  const auto say = [&](const launch::JobResult& ended, int restart) {
    now.resume = train::has_checkpoints(now.run_dir);
    keep_post_mortem(now.run_dir, restart);
    say_restart(ended, restart, now);
  };
  require_success(run_with_restarts(config.restarts, run, say), config, on_interrupt);
}

}  // namespace

launch::ElasticMembership make_membership(const train::TrainConfig& config,
                                          const std::string& transport) {
  launch::MembershipOptions options;
  options.group.transport = transport;
  options.group.timeout = hang_timeout(config);
  options.least = static_cast<std::size_t>(config.min_workers);
  options.most = static_cast<std::size_t>(config.shards);
  return launch::ElasticMembership(options);
}

run::Summary run_training(const train::TrainConfig& config, ProgressStyle style, std::FILE* out,
                          OnInterrupt on_interrupt, const launch::NetworkHosts* hosts) {
  train::require_possible_schedule(config);
  remove_post_mortem(config.run_dir);
  if (config.transport == "thread")
    run_threads_training(config, style, out, on_interrupt);
  else
    run_workers_training(config, style, out, on_interrupt, hosts);
  return run::read_summary(config.run_dir);
}

}  // namespace lockstep::internal::cli
