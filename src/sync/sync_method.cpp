#include "sync/sync_method.h"

#include <lockstep/error.h>

#include "base/text.h"
#include "sync/all_reduce.h"
#include "sync/ddp.h"
#include "sync/gather_scatter.h"
#include "sync/p2p.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::sync {

const std::vector<std::string>& method_names() {
  static const std::vector<std::string> names{"gather-scatter", "p2p", "all-reduce", "ring", "ddp"};
  return names;
}

Method parse_method(std::string_view sync, std::string_view algorithm) {
  const auto& names = method_names();
  if (std::find(names.begin(), names.end(), sync) == names.end())
    throw UsageError(fmt::format("there is no sync method '{}': take {}", sync, enumerate(names)));
  Method method{std::string(sync), std::string(sync), parse_algorithm(algorithm)};
  const bool chosen = method.algorithm != Algorithm::automatic;
  if (sync == "ring") {
    if (chosen && method.algorithm != Algorithm::ring)
      throw UsageError(
          fmt::format("--sync ring is short for --sync all-reduce --algorithm ring: --algorithm {} "
                      "contradicts it",
                      algorithm));
    return {"ring", "all-reduce", Algorithm::ring};
  }
  if (sync == "all-reduce" && method.algorithm == Algorithm::ring) method.method = "ring";
  if (chosen && (sync == "gather-scatter" || sync == "p2p"))
    throw UsageError(
        fmt::format("--sync {} has no --algorithm: it goes through rank 0 by definition", sync));
  return method;
}

std::unique_ptr<SyncMethod> make_sync_method(const Method& method, Group group,
                                             const Gradients& gradients) {
  if (method.sync == "gather-scatter")
    return std::make_unique<GatherScatter>(std::move(group), gradients);
  if (method.sync == "p2p") return std::make_unique<PointToPoint>(std::move(group), gradients);
  if (method.sync == "ddp")
    return std::make_unique<Ddp>(std::move(group), gradients, method.algorithm);
  return std::make_unique<AllReduce>(std::move(group), gradients, method.algorithm);
}

}  // namespace lockstep::sync
