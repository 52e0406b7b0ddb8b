#include "sync/sync_method.h"

#include <lockstep/compress.h>
#include <lockstep/error.h>

#include "sync/all_reduce.h"
#include "sync/coordinator.h"
#include "sync/ddp.h"
#include "sync/gather_scatter.h"
#include "sync/local_sgd.h"
#include "sync/p2p.h"
#include "sync/server.h"
#include "sync/sharded.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lockstep::sync {

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
    throw UsageError(fmt::format(
        "--sync sharded has no --algorithm {}: a reduce-scatter is done by auto, direct, ring, "
        "halving-doubling or native",
        name_of(asked)));
}

}  // namespace

Method parse_method(std::string_view sync, std::string_view algorithm) {
  const Algorithm asked = parse_algorithm(algorithm);
  // An algorithm's name is short for an all-reduce by it.
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
    throw UsageError(
        fmt::format("there is no sync method '{}': take {}, or tree or halving-doubling", sync,
                    fmt::join(names, ", ")));
  if (asked != Algorithm::automatic &&
      (sync == "gather-scatter" || sync == "p2p" || sync == "coordinator"))
    throw UsageError(
        fmt::format("--sync {} has no --algorithm: it goes through rank 0 by definition", sync));
  if (sync == "server" && asked != Algorithm::automatic)
    throw UsageError("--sync server has no --algorithm: it goes through its servers by definition");
  if (sync == "sharded") require_reduce_scatter(asked);
  return {std::string(sync), std::string(sync), asked};
}

void require_sense(const MethodOptions& options, int workers) {
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

std::unique_ptr<SyncMethod> make_sync_method(const Method& method, Group group,
                                             const Gradients& gradients, ReduceOp op,
                                             ArrayView weights, const MethodOptions& options) {
  if (method.sync == "gather-scatter")
    return std::make_unique<GatherScatter>(std::move(group), gradients, op);
  if (method.sync == "p2p") return std::make_unique<PointToPoint>(std::move(group), gradients, op);
  if (method.sync == "coordinator")
    return std::make_unique<Coordinator>(std::move(group), gradients, op);
  if (method.sync == "ddp")
    return std::make_unique<Ddp>(
        std::move(group), gradients,
        DdpSettings{
            .algorithm = method.algorithm, .op = op, .hook = compress::parse(options.compress)});
  if (method.sync == "sharded")
    return std::make_unique<Sharded>(std::move(group), gradients, weights, method.algorithm, op);
  if (method.sync == "server")
    return std::make_unique<Server>(std::move(group), gradients, weights, op, options.servers,
                                    options.staleness);
  if (method.sync == "local-sgd")
    return std::make_unique<LocalSgd>(std::move(group), weights, options.local_steps,
                                      method.algorithm);
  return std::make_unique<AllReduce>(std::move(group), gradients, method.algorithm, op);
}

}  // namespace lockstep::sync
