#include "cli/train/scale_options.h"

#include <lockstep/error.h>

#include "cli/command.h"
#include "cli/shipped_data.h"
#include "data/image_set.h"
#include "data/synthetic.h"
#include "launch/hosts/cores.h"
#include "launch/hosts/machine.h"
#include "launch/hosts/network_hosts.h"
#include "train/config/options.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::cli {

namespace {

/// As many images as CIFAR-10 has, of the same shape: times do not depend on the pixels. The test
/// is not timed, so it has few images.
constexpr const char* kMadeImages = "synthetic:3x32x32,train=50000,test=100";
constexpr std::size_t kIterationsOfLargeModels = 3;
constexpr const char* kSmallModel = "lenet5";
constexpr std::size_t kEpochsOfSmallModel = 3;

/// An epoch of the larger models takes long, so by default a few iterations are timed.
void measure_few_iterations(const CommandOptions& given, train::TrainConfig& job) {
  if (!given.given("--data")) job.data = kMadeImages;
  if (given.given("--epochs") || given.given("--iterations")) return;
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

/// Every worker of every world has as many threads as one in the largest world.
int threads_of(const study::ScaleJob& study) {
  if (study.job.threads > 0) return study.job.threads;
  const int most = *std::max_element(study.workers.begin(), study.workers.end());
  return launch::threads_per_worker(std::max(1, most));
}

double free_bytes() {
  const launch::MachineMemory memory = launch::find_memory();
  return static_cast<double>(std::min(memory.free, memory.limit.value_or(memory.free)));
}

/// 1, 2, 4 … and `hosts`.
std::vector<int> worlds_up_to(int hosts) {
  std::vector<int> worlds;
  for (int workers = 1; workers < hosts; workers *= 2) worlds.push_back(workers);
  worlds.push_back(hosts);
  return worlds;
}

void finish_hosts(ScaleCommand& options) {
  const CommandOptions& given = *options.options;
  study::ScaleJob& study = options.study;
  for (const char* option : {"--bandwidth", "--latency"})
    if (!options.hosts && given.given(option))
      throw UsageError(fmt::format("{} applies to the links between hosts: give --hosts", option));
  if (!options.hosts) return;
  study.hosts = {*options.hosts,
                 {launch::parse_bandwidth(options.bandwidth, "--bandwidth"),
                  launch::parse_latency(options.latency, "--latency")}};
  if (given.asked_for("--transport") && study.job.transport != "gloo")
    throw UsageError("--hosts uses the transport gloo: leave out --transport");
  study.job.transport = "gloo";
  if (!given.given("--workers")) study.workers = worlds_up_to(*options.hosts);
}

run::Options options_of(ScaleCommand& command) {
  study::ScaleJob& study = command.study;
  constexpr std::string_view hosts = "A slow network on one machine (root only)";
  return {
      {.name = "--workers",
       .field = &study.workers,
       .group = "Study",
       .range = run::between(1, 1024),
       .help = "numbers of workers, separated by commas"},
      {.name = "--batches",
       .field = &study.batches,
       .group = "Study",
       .range = run::at_least(1),
       .help = "images of each worker in a step, separated by commas"},
      {.name = "--methods",
       .field = &study.methods,
       .group = "Study",
       .help = "sync methods, separated by commas; ddp+float16 is ddp with --compress float16; "
               "default: that of --sync"},
      {.name = "--weak",
       .field = &study.weak,
       .group = "Study",
       .help = "weak scaling: the same images per worker, so that an epoch grows with the workers; "
               "without it every number of workers trains the same epoch"},
      {.name = "--hosts",
       .field = &command.hosts,
       .group = hosts,
       .range = run::between(1, launch::NetworkHosts::kMost),
       .help = "emulate N hosts with network namespaces, one worker on each"},
      {.name = "--bandwidth",
       .field = &command.bandwidth,
       .group = hosts,
       .help = "bandwidth of each host's link, each way: kbit, mbit or gbit"},
      {.name = "--latency",
       .field = &command.latency,
       .group = hosts,
       .help = "delay of every packet on each link: us or ms (needs the kernel's sch_netem)"}};
}

}  // namespace

std::string scale_defaults() {
  return fmt::format(
      "By default it trains LeNet-5 on the MNIST images that ship with Lockstep. Other models are "
      "trained on {} by default (times do not depend on the content of images): {} iterations are "
      "timed, and the time of an epoch is extrapolated from them",
      kMadeImages, kIterationsOfLargeModels);
}

void add_scale_options(CLI::App& command, ScaleCommand& options) {
  options.study.job.model = kSmallModel;
  options.study.job.epochs = kEpochsOfSmallModel;
  options.study.job.data_dir = shipped_data();
  options.options.emplace(command, options_of(options), train::options_of(options.study.job),
                          run::kScale);
}

void finish_scale_options(ScaleCommand& options) {
  CommandOptions& given = *options.options;
  given.finish();
  study::ScaleJob& study = options.study;
  if (study.job.run_dir.empty()) study.job.run_dir = default_run_dir("scale");
  if (study.job.model != kSmallModel) measure_few_iterations(given, study.job);
  finish_hosts(options);
  // The options that all runs have in common must suit the largest of them.
  for (int workers : study.workers) study.job.workers = std::max(study.job.workers, workers);
  study.job.batch = std::max(study.job.batch, static_cast<std::size_t>(study.job.workers));
  finish_train_options(given, study.job);
  require_writable_results(study.job);
  if (!given.given("--methods")) study.methods = {study.job.sync};
  if (given.given("--methods") && given.asked_for("--sync"))
    throw UsageError("--sync names one method and --methods several: leave one of them out");
  study.machine = study::this_machine();
  study.free_memory = free_bytes;
  study.job.threads = threads_of(study);
  study.images = training_images(study.job);
}

}  // namespace lockstep::internal::cli
