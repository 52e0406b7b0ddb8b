// The class of each sync method, by name.
#include <lockstep/compress.h>

#include "sync/methods/all_reduce.h"
#include "sync/methods/coordinator.h"
#include "sync/methods/ddp.h"
#include "sync/methods/gather_scatter.h"
#include "sync/methods/local_sgd.h"
#include "sync/methods/p2p.h"
#include "sync/methods/server.h"
#include "sync/methods/sharded.h"
#include "sync/sync_method.h"

namespace lockstep::internal::sync {

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

}  // namespace lockstep::internal::sync
