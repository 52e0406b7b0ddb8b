#include "cli/predict/options.h"

#include <lockstep/error.h>

#include "base/cache_folder.h"
#include "base/text.h"
#include "cli/transport_list.h"
#include "launch/hosts/machine.h"
#include "predict/fit.h"
#include "sync/sync_method.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::cli {

namespace {

/// All methods of compare, and some more values of `--sync`.
std::vector<std::string> default_methods() {
  std::vector<std::string> methods = sync::method_names();
  for (const char* more : {"tree", "halving-doubling", "ddp+float16"}) methods.emplace_back(more);
  return methods;
}

/// Whether all ranks share memory.
bool in_one_host(const std::string& network) {
  return network == "shm" || network == "thread";
}

/// Ranks on loopback use this machine's cores together.
ChosenNetwork named(const predict::NetworkModel& network) {
  return {network, network.by_cores() ? launch::find_cores().usable() : 0};
}

/// Throws UsageError for each of `names` that was given, unless `used`.
void require_use(bool used, const PredictCommand& options, std::initializer_list<const char*> names,
                 const char* purpose) {
  if (used) return;
  for (const char* name : names)
    if (options.given.contains(name)) throw UsageError(fmt::format("{} {}", name, purpose));
}

}  // namespace

void require_purpose(const PredictCommand& options) {
  const bool iterations = !options.run.empty() && !options.check;
  const bool collectives = options.run.empty() && !options.check && options.fit.empty();
  require_use(!options.check, options,
              {"--fit", "--network", "--workers", "--ranks-per-host", "--methods", "--bucket-mb",
               "--worth", "--slow-rank", "--jitter", "--simulate", "--html", "--json"},
              "cannot be used with --check, which has a fixed plan: omit it");
  require_use(iterations, options,
              {"--methods", "--bucket-mb", "--worth", "--slow-rank", "--jitter", "--simulate",
               "--html", "--json"},
              "applies to predictions of iterations: give a recorded --run");
  require_use(iterations && options.simulate, options,
              {"--topology", "--simulate-up-to", "--slow-link"},
              "applies to a simulation: add --simulate");
  require_use(collectives, options, {"--op", "--sizes"},
              "applies to predictions of collectives: omit --run, --fit and --check");
  require_use(iterations || collectives, options, {"--network", "--workers", "--ranks-per-host"},
              "applies to predictions: omit --fit, or give a recorded --run");
  require_use(!in_one_host(options.network), options, {"--ranks-per-host"},
              "applies to hosts connected by a network: shm and thread are one host");
}

void add_predict_options(CLI::App& command, PredictCommand& options) {
  auto list = [&](const char* name, auto& values, const std::string& help) {
    return command.add_option(name, values, help)->delimiter(',');
  };
  auto option = [&](const char* name, auto& value, const std::string& help) {
    return command.add_option(name, value, help)->capture_default_str();
  };
  list("--fit", options.fit,
       fmt::format(
           "measure these transports on this machine and fit the model to them; each becomes "
           "a --network of its name: {}",
           fmt::join(transport_list(), ", ")));
  option(
      "--run", options.run,
      "folder of a one-worker run, whose iterations are predicted for more workers; or a file that "
      "describes one (docs/predict.md)");
  option("--network", options.network,
         fmt::format("{}; a fitted transport; or a custom network: alpha=20us,bandwidth=10gbit "
                     "(or beta=0.8ns), optionally with gamma",
                     enumerate(predict::network_names())));
  list("--workers", options.workers, "world sizes, separated by commas")->capture_default_str();
  list("--methods", options.methods,
       "sync methods, separated by commas; ddp:tree is ddp with --algorithm tree, ddp+float16 with "
       "--compress float16; default: all");
  list("--bucket-mb", options.bucket_megabytes,
       "bucket sizes to choose from, in MiB, separated by commas")
      ->capture_default_str();
  option("--ranks-per-host", options.per_host,
         "ranks on a host, which use its memory and its link together (hierarchical algorithms)");
  option("--worth", options.worth,
         "more workers are worth it while each adds this fraction of a worker to the speed-up");
  option("--slow-rank", options.slow_rank, "factor of one rank's computing time");
  option("--jitter", options.jitter, "relative standard deviation of the ranks' computing times");
  command.add_flag("--simulate", options.simulate,
                   "also simulate every message on a network with contention (SimGrid)");
  option("--topology", options.topology, "topology of the simulation: switch, fat-tree, dragonfly");
  option("--simulate-up-to", options.simulate_up_to, "largest number of workers to simulate")
      ->check(CLI::Range(2, 1 << 16));
  option("--slow-link", options.slow_link,
         "factor by which one host's link is slower in the simulation");
  command.add_flag(
      "--check", options.check,
      "measure 1, 2 and 4 workers on this machine and compare with the predictions; as root "
      "also between network namespaces");
  option("--op", options.op,
         "without --run: the collective to predict: all-reduce, all-gather, barrier, broadcast, "
         "gather, reduce, reduce-scatter, scatter");
  list("--sizes", options.sizes, "without --run: array sizes to predict, separated by commas")
      ->capture_default_str();
  option("--html", options.html, "file for the page; default: predict.html in the run's folder");
  option("--json", options.json, "write the result to this file as JSON; - for standard output");
}

std::filesystem::path fits_folder() {
  const std::filesystem::path cache = cache_folder();
  return cache.empty() ? cache : cache / "fits";
}

ChosenNetwork choose_network(const std::string& text) {
  const std::vector<std::string> transports = transport_list();
  if (std::find(transports.begin(), transports.end(), text) == transports.end())
    return named(predict::parse_network(text));
  const auto fit = predict::load_fit(fits_folder(), text);
  if (!fit)
    throw UsageError(fmt::format(
        "{} was not fitted on this machine yet: run lockstep predict --fit {}", text, text));
  return {fit->network, fit->cores, in_one_host(text)};
}

predict::ScalingJob scaling_job_of(const PredictCommand& options) {
  const ChosenNetwork chosen = choose_network(options.network);
  predict::ScalingJob job{.run = predict::read_recorded_run(options.run),
                          .network = chosen.network,
                          .workers = options.workers,
                          .methods = options.methods,
                          .bucket_megabytes = options.bucket_megabytes,
                          .per_host = options.per_host,
                          .cores = chosen.cores,
                          .slow_rank = options.slow_rank,
                          .jitter = options.jitter,
                          .worth = options.worth};
  if (job.methods.empty()) job.methods = default_methods();
  if (chosen.one_host && !job.workers.empty())
    job.per_host = *std::max_element(job.workers.begin(), job.workers.end());
  return job;
}

}  // namespace lockstep::internal::cli
