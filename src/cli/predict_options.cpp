#include "cli/predict_options.h"

#include <lockstep/error.h>

#include "base/cache_folder.h"
#include "base/text.h"
#include "cli/transport_list.h"
#include "launch/machine.h"
#include "predict/fit.h"
#include "sync/sync_method.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::cli {

namespace {

/// All that compare shows, and what else `--sync` takes.
std::vector<std::string> default_methods() {
  std::vector<std::string> methods = sync::method_names();
  for (const char* more : {"tree", "halving-doubling", "ddp+float16"}) methods.emplace_back(more);
  return methods;
}

/// Whether all ranks share memory.
bool in_one_host(const std::string& network) {
  return network == "shm" || network == "thread";
}

/// Ranks that talk over loopback share this machine's cores.
ChosenNetwork named(const predict::Network& network) {
  return {network, network.by_cores() ? launch::find_cores().usable() : 0};
}

/// Refuses all of `names` that were given, unless there is a use for them.
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
              "does not go with --check, which has a plan of its own: leave it out");
  require_use(iterations, options,
              {"--methods", "--bucket-mb", "--worth", "--slow-rank", "--jitter", "--simulate",
               "--html", "--json"},
              "is for predictions of iterations: name a recorded --run");
  require_use(iterations && options.simulate, options,
              {"--topology", "--simulate-up-to", "--slow-link"},
              "is that of a simulation: add --simulate");
  require_use(collectives, options, {"--op", "--sizes"},
              "is for predictions of collectives alone: leave --run, --fit and --check out");
  require_use(iterations || collectives, options, {"--network", "--workers", "--ranks-per-host"},
              "is for predictions: leave --fit out, or name a recorded --run");
  require_use(!in_one_host(options.network), options, {"--ranks-per-host"},
              "is for hosts with a network between them: shm and thread are one host");
}

void add_predict_options(CLI::App& command, PredictCommand& options) {
  auto list = [&](const char* name, auto& values, const std::string& help) {
    return command.add_option(name, values, help)->delimiter(',');
  };
  auto option = [&](const char* name, auto& value, const std::string& help) {
    return command.add_option(name, value, help)->capture_default_str();
  };
  list("--fit", options.fit,
       fmt::format("measure these transports of this machine and fit the model to them; kept, and "
                   "then networks of their names: {}",
                   fmt::join(transport_list(), ", ")));
  option(
      "--run", options.run,
      "the folder of a run of one worker, whose iterations are predicted for more; or a file that "
      "describes one (docs/scaling.md)");
  option("--network", options.network,
         fmt::format("{}; a transport that was fitted; or your own: "
                     "alpha=20us,bandwidth=10gbit (or beta=0.8ns), and gamma",
                     enumerate(predict::network_names())));
  list("--workers", options.workers, "world sizes, separated by commas")->capture_default_str();
  list("--methods", options.methods,
       "sync methods, likewise; ddp:tree is ddp with --algorithm tree, ddp+float16 with --compress "
       "float16; default: all");
  list("--bucket-mb", options.bucket_megabytes, "bucket sizes to choose from, in MiB, likewise")
      ->capture_default_str();
  option("--ranks-per-host", options.per_host,
         "ranks that share a host's memory and its link: they can be hierarchical");
  option("--worth", options.worth,
         "further workers are worth it while each adds this share of one to the speed-up");
  option("--slow-rank", options.slow_rank, "one rank computes so many times as long");
  option("--jitter", options.jitter,
         "the share by which the ranks' computing times vary (a standard deviation)");
  command.add_flag("--simulate", options.simulate,
                   "simulate every message as well, on a network with contention (SimGrid)");
  option("--topology", options.topology, "of the simulated network: switch, fat-tree, dragonfly");
  option("--simulate-up-to", options.simulate_up_to, "simulate worlds of up to so many workers")
      ->check(CLI::Range(2, 1 << 16));
  option("--slow-link", options.slow_link,
         "in the simulation, one host's link is so many times as slow");
  command.add_flag("--check", options.check,
                   "measure 1, 2 and 4 workers on this machine and print what the model predicts "
                   "beside it; between network namespaces, too, if this is root");
  option("--op", options.op,
         "without --run: the collective that is predicted, or all-gather, barrier, broadcast, "
         "gather, reduce, reduce-scatter, scatter");
  list("--sizes", options.sizes, "without --run: the arrays that it is predicted for")
      ->capture_default_str();
  option("--html", options.html,
         "where to write the page; without it predict.html in the run's folder");
  option("--json", options.json, "write the result to this file; - for standard output");
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
    throw UsageError(fmt::format("{} was not fitted on this machine yet: lockstep predict --fit {}",
                                 text, text));
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

}  // namespace lockstep::cli
