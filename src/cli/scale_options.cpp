#include "cli/scale_options.h"

#include <lockstep/error.h>

#include "cli/command.h"
#include "data/image_set.h"
#include "data/synthetic.h"
#include "launch/cores.h"
#include "launch/machine.h"
#include "launch/network_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace lockstep::cli {

namespace {

/// As many images of the same shape as CIFAR-10 has: times do not depend on what they show. The few
/// test images are a formality.
constexpr const char* kMadeImages = "synthetic:3x32x32,train=50000,test=100";
constexpr std::size_t kIterationsOfLargeModels = 3;
constexpr const char* kSmallModel = "lenet5";
constexpr std::size_t kEpochsOfSmallModel = 3;

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

double free_bytes() {
  const launch::MachineMemory memory = launch::find_memory();
  return static_cast<double>(std::min(memory.free, memory.limit.value_or(memory.free)));
}

/// 1, 2, 4 … and all of them.
std::vector<int> worlds_up_to(int hosts) {
  std::vector<int> worlds;
  for (int workers = 1; workers < hosts; workers *= 2) worlds.push_back(workers);
  worlds.push_back(hosts);
  return worlds;
}

void finish_hosts(const CLI::App& command, ScaleCommand& options) {
  study::ScaleJob& study = options.study;
  for (const char* option : {"--bandwidth", "--latency"})
    if (command.count("--hosts") == 0 && command.count(option) > 0)
      throw UsageError(fmt::format("{} is that of the links between --hosts: how many?", option));
  if (command.count("--hosts") == 0) return;
  study.hosts = {options.hosts,
                 {launch::parse_bandwidth(options.bandwidth, "--bandwidth"),
                  launch::parse_latency(options.latency, "--latency")}};
  if (command.count("--transport") > 0 && study.job.transport != "gloo")
    throw UsageError("between --hosts workers talk over gloo: leave --transport out");
  study.job.transport = "gloo";
  if (command.count("--workers") == 0) study.workers = worlds_up_to(options.hosts);
}

void add_host_options(CLI::App& command, ScaleCommand& options) {
  auto option = [&](const char* name, auto& value, const std::string& help) {
    return command.add_option(name, value, help)
        ->group("A slow network on one machine (root only)");
  };
  option("--hosts", options.hosts,
         "make so many hosts, which are network namespaces, with one worker each")
      ->check(CLI::Range(1, launch::NetworkHosts::kMost));
  option("--bandwidth", options.bandwidth, "of each host's link, each way: kbit, mbit or gbit")
      ->capture_default_str();
  option("--latency", options.latency,
         "that every packet takes longer on each link: us or ms (needs the kernel's sch_netem)")
      ->capture_default_str();
}

}  // namespace

std::string scale_defaults() {
  return fmt::format(
      "Without options LeNet-5 on the MNIST images that ship with Lockstep; other models by "
      "default "
      "on {} (times do not depend on what images show), of which {} iterations are timed, and an "
      "epoch's time follows from them",
      kMadeImages, kIterationsOfLargeModels);
}

void add_scale_options(CLI::App& command, ScaleCommand& options) {
  options.study.job.model = kSmallModel;
  options.study.job.epochs = kEpochsOfSmallModel;
  add_train_options(command, options.study.job, options.view);
  // One number each for a single run: lists here.
  for (const char* name : {"--workers", "--batch"}) command.remove_option(command.get_option(name));
  auto list = [&](const char* name, auto& values, const std::string& help) {
    command.add_option(name, values, help)->delimiter(',')->capture_default_str();
  };
  list("--workers", options.study.workers, "world sizes, separated by commas");
  list("--batches", options.study.batches, "images of each worker in a step, likewise");
  list("--methods", options.study.methods,
       "sync methods, likewise; ddp+float16 is ddp with --compress float16; default: that of "
       "--sync");
  command.add_option("--sync", options.study.job.sync, "the sync method, if it is one")
      ->capture_default_str();
  command.add_flag("--weak", options.study.weak,
                   "every worker has the same images, so an epoch grows with the workers; else "
                   "every world has the same epoch");
  add_host_options(command, options);
}

void finish_scale_options(const CLI::App& command, ScaleCommand& options) {
  study::ScaleJob& study = options.study;
  if (study.job.run_dir.empty()) study.job.run_dir = default_run_dir("scale");
  if (study.job.model != kSmallModel) use_defaults_of_large_models(command, study.job);
  finish_hosts(command, options);
  finish_train_options(command, study.job, options.view);
  if (command.count("--methods") == 0) study.methods = {study.job.sync};
  if (command.count("--methods") > 0 && command.count("--sync") > 0)
    throw UsageError("--sync names one method and --methods several: leave one of them out");
  study.cores = launch::find_cores().usable();
  study.free_memory = free_bytes;
  ::getloadavg(&study.load, 1);
  study.job.threads = threads_of(study);
  study.images = training_images(study.job);
}

}  // namespace lockstep::cli
