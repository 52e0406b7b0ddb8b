#include "sync/sync_method.h"

#include <lockstep/error.h>

#include "sync/all_reduce.h"
#include "sync/coordinator.h"
#include "sync/ddp.h"
#include "sync/gather_scatter.h"
#include "sync/p2p.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::sync {

const std::vector<std::string>& method_names() {
  static const std::vector<std::string> names{"gather-scatter", "p2p",  "coordinator",
                                              "all-reduce",     "ring", "ddp"};
  return names;
}

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
  return {std::string(sync), std::string(sync), asked};
}

std::unique_ptr<SyncMethod> make_sync_method(const Method& method, Group group,
                                             const Gradients& gradients, ReduceOp op) {
  if (method.sync == "gather-scatter")
    return std::make_unique<GatherScatter>(std::move(group), gradients, op);
  if (method.sync == "p2p") return std::make_unique<PointToPoint>(std::move(group), gradients, op);
  if (method.sync == "coordinator")
    return std::make_unique<Coordinator>(std::move(group), gradients, op);
  if (method.sync == "ddp")
    return std::make_unique<Ddp>(std::move(group), gradients,
                                 DdpSettings{.algorithm = method.algorithm, .op = op});
  return std::make_unique<AllReduce>(std::move(group), gradients, method.algorithm, op);
}

}  // namespace lockstep::sync
