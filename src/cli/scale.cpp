// lockstep scale: the same job over several world sizes and batch sizes.
#include <lockstep/error.h>

#include "base/files.h"
#include "cli/command.h"
#include "cli/scale_bench.h"
#include "cli/study_runs.h"
#include "cli/train_options.h"
#include "data/image_set.h"
#include "data/synthetic.h"
#include "launch/cores.h"
#include "launch/machine.h"
#include "study/scale_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace lockstep::cli {

namespace {

struct ScaleCommand {
  study::ScaleJob study;
  TrainView view;
};

/// As many images of the same shape as CIFAR-10 has: times do not depend on what they show. The few
/// test images are a formality.
constexpr const char* kMadeImages = "synthetic:3x32x32,train=50000,test=100";
constexpr std::size_t kIterationsOfLargeModels = 3;

train::TrainConfig default_job() {
  train::TrainConfig job;
  job.epochs = 3;
  return job;
}

/// Models that take other images than LeNet-5 take long for an epoch: a few iterations tell.
void use_defaults_of_large_models(const CLI::App& command, train::TrainConfig& job) {
  if (command.count("--data") == 0) job.data = kMadeImages;
  if (command.count("--epochs") + command.count("--iterations") > 0) return;
  job.epochs = 0;
  job.iterations = kIterationsOfLargeModels;
}

std::size_t training_images(const train::TrainConfig& job) {
  constexpr std::string_view kSynthetic = "synthetic";
  std::size_t images = 0;
  if (job.data.starts_with(kSynthetic))
    images = data::parse_synthetic(std::string_view(job.data).substr(kSynthetic.size())).train;
  else
    images = data::open_image_set({.name = job.data, .folder = job.data_dir}).train->size();
  return job.limit > 0 ? std::min(images, job.limit) : images;
}

/// Every worker of every world has the share of the cores that one has in the largest world.
int threads_of(const study::ScaleJob& study) {
  if (study.job.threads > 0) return study.job.threads;
  const int most = *std::max_element(study.workers.begin(), study.workers.end());
  return launch::threads_per_worker(std::max(1, most));
}

void finish_options(const CLI::App& command, ScaleCommand& options) {
  study::ScaleJob& study = options.study;
  if (study.job.run_dir.empty()) study.job.run_dir = default_run_dir("scale");
  if (study.job.model != default_job().model) use_defaults_of_large_models(command, study.job);
  finish_train_options(command, study.job, options.view);
  if (command.count("--methods") == 0) study.methods = {study.job.sync};
  if (command.count("--methods") > 0 && command.count("--sync") > 0)
    throw UsageError("--sync names one method and --methods several: leave one of them out");
  study.cores = launch::find_cores().usable();
  ::getloadavg(&study.load, 1);
  study.job.threads = threads_of(study);
  study.images = training_images(study.job);
}

std::string announcement(const study::PlannedRun& plan, const study::ScaleJob& study) {
  const train::TrainConfig& config = plan.config;
  const bool several = study.methods.size() > 1 && config.workers > 1;
  return fmt::format("{} worker{}, {} each{}", config.workers, config.workers == 1 ? "" : "s",
                     plan.batch, several ? ", " + config.sync : "");
}

void print(const study::Scaling& scaling) {
  print_table(study::run_table(scaling));
  fmt::print("{}\n", study::scale_verdict(scaling));
  for (const std::string& note : study::scale_notes(scaling)) fmt::print("{}\n", note);
  fmt::print("The runs are recorded in {}\n", scaling.job.job.run_dir.string());
}

void run_scale(const ScaleCommand& command) {
  StudyRuns runs(command.view, study::plan_scaling(command.study).size());
  StepBench bench;
  const study::Scaling scaling = study::scale(
      command.study,
      [&](const study::PlannedRun& plan) {
        return runs.run(plan.config, announcement(plan, command.study));
      },
      [&](const study::PlannedRun& plan, const train::Summary& summary) {
        return bench.seconds(plan, summary);
      });
  const nlohmann::json json = study::to_json(scaling);
  write_file(command.study.job.run_dir / "summary.json", json.dump(2) + "\n");
  if (command.view.json != "-") print(scaling);
  write_json(command.view.json, json);
}

void add_options(CLI::App& command, ScaleCommand& options) {
  add_train_options(command, options.study.job, options.view);
  // One number each for a single run: lists here.
  for (const char* name : {"--workers", "--batch"}) command.remove_option(command.get_option(name));
  auto list = [&](const char* name, auto& values, const std::string& help) {
    command.add_option(name, values, help)->delimiter(',')->capture_default_str();
  };
  list("--workers", options.study.workers, "world sizes, separated by commas");
  list("--batches", options.study.batches, "images of each worker in a step, likewise");
  list("--methods", options.study.methods, "sync methods, likewise; default: that of --sync");
  command.add_option("--sync", options.study.job.sync, "the sync method, if it is one")
      ->capture_default_str();
  command.add_flag("--weak", options.study.weak,
                   "every worker has the same images, so an epoch grows with the workers; else "
                   "every world has the same epoch");
}

}  // namespace

void add_scale_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "scale",
      fmt::format("the same job with more and more workers: time, speed-up, compute, communication "
                  "and bandwidth. Without options LeNet-5 on the MNIST images that ship with "
                  "Lockstep; other models by default on {} (times do not depend on what images "
                  "show), of which {} iterations are timed, and an epoch's time follows from them",
                  kMadeImages, kIterationsOfLargeModels));
  auto options = std::make_shared<ScaleCommand>();
  options->study.job = default_job();
  add_options(*command, *options);
  command->callback([command, options, &code] {
    try {
      finish_options(*command, *options);
      run_scale(*options);
    } catch (...) {
      code = report_exception("lockstep scale");
    }
  });
}

}  // namespace lockstep::cli
