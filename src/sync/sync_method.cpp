#include "sync/sync_method.h"

#include <lockstep/compress.h>
#include <lockstep/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lockstep::internal::sync {

const std::vector<std::string>& method_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = averaging_method_names();
    all.insert(all.end(), {"sharded", "server", "local-sgd"});
    return all;
  }();
  return names;
}

const std::vector<std::string>& averaging_method_names() {
  static const std::vector<std::string> names{"gather-scatter", "p2p",  "coordinator",
                                              "all-reduce",     "ring", "ddp"};
  return names;
}

bool averages_gradients(std::string_view sync) {
  const auto& names = averaging_method_names();
  return std::find(names.begin(), names.end(), sync) != names.end();
}

namespace {

void require_reduce_scatter(Algorithm asked) {
  constexpr std::array kAllowed{Algorithm::automatic, Algorithm::direct, Algorithm::ring,
                                Algorithm::halving_doubling, Algorithm::native};
  if (std::find(kAllowed.begin(), kAllowed.end(), asked) == kAllowed.end())
    throw UsageError(
        fmt::format("--sync sharded does not support --algorithm {}: use auto, direct, ring, "
                    "halving-doubling or native for its reduce-scatter",
                    name_of(asked)));
}

}  // namespace

Method parse_method(std::string_view sync, std::string_view algorithm) {
  const Algorithm asked = parse_algorithm(algorithm);
  // An algorithm's name stands for an all-reduce by it.
  for (Algorithm shorthand : {Algorithm::ring, Algorithm::tree, Algorithm::halving_doubling}) {
    const std::string name(name_of(shorthand));
    if (sync == "all-reduce" && asked == shorthand) return {name, "all-reduce", shorthand};
    if (sync != name) continue;
    if (asked != Algorithm::automatic && asked != shorthand)
      throw UsageError(fmt::format(
          "--sync {} is short for --sync all-reduce --algorithm {}: --algorithm {} contradicts it",
          sync, sync, algorithm));
    return {name, "all-reduce", shorthand};
  }
  const auto& names = method_names();
  if (std::find(names.begin(), names.end(), sync) == names.end())
    throw UsageError(fmt::format("unknown sync method '{}': use {}, tree or halving-doubling", sync,
                                 fmt::join(names, ", ")));
  if (asked != Algorithm::automatic &&
      (sync == "gather-scatter" || sync == "p2p" || sync == "coordinator"))
    throw UsageError(
        fmt::format("--sync {} has no --algorithm: it always goes through rank 0", sync));
  if (sync == "server" && asked != Algorithm::automatic)
    throw UsageError("--sync server has no --algorithm: it always goes through its servers");
  if (sync == "sharded") require_reduce_scatter(asked);
  return {std::string(sync), std::string(sync), asked};
}

void require_valid(const MethodOptions& options, int workers) {
  if (options.local_steps < 1)
    throw UsageError(fmt::format("--local-steps is {}: it must be 1 or more", options.local_steps));
  if (options.staleness && *options.staleness < 1)
    throw UsageError(fmt::format(
        "--staleness is {}: it must be 1 or more; leave it out for a synchronous server",
        *options.staleness));
  if (options.servers < 1 || options.servers > workers)
    throw UsageError(fmt::format("--servers is {}: it must be from 1 to {}, the number of workers",
                                 options.servers, workers));
  compress::parse(options.compress);
}

}  // namespace lockstep::internal::sync
