#include "predict/method_plan.h"

#include <lockstep/compress.h>
#include <lockstep/error.h>

#include "base/number.h"
#include "sync/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace lockstep::internal::predict {

using comm::Operation;
using comm::RecordedWorld;

namespace {

/// A bucket of float32 gradients.
struct BucketToSend {
  double ready = 0;
  double bytes = 0;
  std::vector<double> parameters;  ///< bytes of each
};

/// Buckets as sync::Layout cuts them.
std::vector<BucketToSend> buckets_of(const MethodPlan& plan, const RecordedRun& run,
                                     std::size_t parts) {
  std::vector<sync::Parameter> parameters;
  for (const RecordedGradient& gradient : run.gradients)
    parameters.push_back(
        {gradient.name, static_cast<std::size_t>(gradient.bytes) / size_of(run.type)});
  const sync::Layout layout(parameters, run.type,
                            {.first_bytes = static_cast<std::size_t>(plan.first_bucket_bytes),
                             .bytes = static_cast<std::size_t>(plan.bucket_bytes),
                             .parts = parts});
  std::vector<BucketToSend> buckets;
  for (const sync::Bucket& bucket : layout.buckets()) {
    BucketToSend& its = buckets.emplace_back();
    its.bytes = static_cast<double>(bucket.slot.count * size_of(run.type));
    for (std::size_t parameter : bucket.parameters) {
      its.ready = std::max(its.ready, run.gradients[parameter].ready);
      its.parameters.push_back(run.gradients[parameter].bytes);
    }
  }
  buckets.back().ready = run.backward;  // the last bucket waits for the end of backward
  return buckets;
}

/// Bytes of PowerSGD's two factors, for a square matrix, since the shape is not known.
std::pair<double, double> power_sgd_bytes(const BucketToSend& bucket, double rank) {
  double p = 0, q = 0;
  for (double bytes : bucket.parameters) {
    const double side = std::sqrt(bytes / sizeof(float));
    if (2 * rank * side >= side * side)
      p += bytes;
    else
      p += rank * side * sizeof(float), q += rank * side * sizeof(float);
  }
  return {p, q};
}

/// The exchanges of a compressed bucket, as in src/sync/*_compressor.cpp. Passes over its gradients
/// count as copies.
void add_compressed(std::vector<Exchange>& exchanges, const MethodPlan& plan,
                    const BucketToSend& bucket, const RecordedWorld& world) {
  const double ranks = world.size;
  auto add = [&](Operation operation, double bytes, double passes) {
    const Algorithm algorithm =
        operation == Operation::all_reduce ? plan.method.algorithm : Algorithm::automatic;
    exchanges.push_back({.ready = bucket.ready,
                         .collective = Collective{operation, algorithm, bytes},
                         .work = {.copied = passes * bucket.bytes, .busy = ranks}});
  };
  const std::size_t colon = plan.compress.find(':');
  const double value = colon == std::string::npos
                           ? 0
                           : number_in<double>(plan.compress.substr(colon + 1)).value_or(0);
  if (plan.compress.starts_with("topk"))  // a position and a value each, from all ranks to all
    return add(Operation::all_gather, ranks * 2 * value * bucket.bytes, 4 + 2 * value * ranks);
  if (plan.compress == "sign")
    return add(Operation::all_gather, ranks * bucket.bytes / 32, 3 + ranks);
  if (plan.compress.starts_with("powersgd")) {
    const auto [p, q] = power_sgd_bytes(bucket, value);
    add(Operation::all_reduce, p, 2 + value);
    return add(Operation::all_reduce, q, 3 + value);
  }
  add(Operation::all_reduce, bucket.bytes / 2, 3);  // float16, bfloat16
}

std::vector<Exchange> ddp(const MethodPlan& plan, const RecordedRun& run,
                          const RecordedWorld& world) {
  std::vector<Exchange> exchanges;
  for (const BucketToSend& bucket : buckets_of(plan, run, 1)) {
    if (!plan.compress.empty())
      add_compressed(exchanges, plan, bucket, world);
    else
      exchanges.push_back(
          {.ready = bucket.ready,
           .collective = Collective{Operation::all_reduce, plan.method.algorithm, bucket.bytes}});
  }
  return exchanges;
}

/// The same choice as in src/sync/methods/sharded.cpp.
Algorithm sharding_algorithm(const MethodPlan& plan, const RecordedWorld& world) {
  const bool one_host = world.hosts() == 1 && world.per_host > 1;
  const bool power_of_two = std::has_single_bit(static_cast<unsigned>(world.size));
  if (plan.method.algorithm == Algorithm::automatic && !one_host && power_of_two)
    return Algorithm::halving_doubling;
  return plan.method.algorithm;
}

std::vector<Exchange> sharded(const MethodPlan& plan, const RecordedRun& run,
                              const RecordedWorld& world) {
  const auto buckets = buckets_of(plan, run, static_cast<std::size_t>(world.size));
  std::vector<Exchange> exchanges;
  for (const BucketToSend& bucket : buckets)
    exchanges.push_back({.ready = bucket.ready,
                         .collective = Collective{Operation::reduce_scatter,
                                                  sharding_algorithm(plan, world), bucket.bytes}});
  for (const BucketToSend& bucket : buckets)
    exchanges.push_back(
        {.ready = run.backward,
         .collective = Collective{Operation::all_gather, Algorithm::automatic, bucket.bytes},
         .after_update = true});
  return exchanges;
}

std::vector<Exchange> all_reduce(const MethodPlan& plan, const RecordedRun& run) {
  std::vector<Exchange> exchanges;
  for (const RecordedGradient& gradient : run.gradients)
    exchanges.push_back(
        {.ready = run.backward,
         .collective = Collective{Operation::all_reduce, plan.method.algorithm, gradient.bytes}});
  return exchanges;
}

std::vector<Exchange> gather_scatter(const RecordedRun& run, const RecordedWorld& world) {
  std::vector<Exchange> exchanges;
  for (const RecordedGradient& gradient : run.gradients) {
    const double all = world.size * gradient.bytes;
    exchanges.push_back({.ready = run.backward,
                         .collective = Collective{Operation::gather, Algorithm::automatic, all},
                         .work = {.added = all}});  // rank 0 adds, and writes a copy for each rank
    exchanges.push_back({.ready = run.backward,
                         .collective = Collective{Operation::scatter, Algorithm::automatic, all}});
  }
  return exchanges;
}

/// All gradients to one rank and back over its link: p2p, coordinator, server.
std::vector<Exchange> through_one(const RecordedRun& run, const RecordedWorld& world,
                                  double messages, double servers) {
  const double through = (world.size - 1) * run.bytes() / servers;
  return {{.ready = run.backward,
           .work = {.agreements = 1,
                    .messages = messages,
                    .bytes = 2 * through,
                    .added = through,
                    .copied = run.bytes(),
                    .busy = servers}}};
}

std::vector<Exchange> local_sgd(const MethodPlan& plan, const RecordedRun& run) {
  std::vector<Exchange> exchanges;
  for (int array = 0; array <= run.states; ++array)
    exchanges.push_back(
        {.ready = run.backward,
         .collective = Collective{Operation::all_reduce, plan.method.algorithm, run.bytes()},
         .after_update = true,
         .frequency = 1.0 / plan.local_steps});
  return exchanges;
}

}  // namespace

MethodPlan parse_method_plan(std::string_view name) {
  const std::size_t plus = name.find('+');
  const std::string_view method = name.substr(0, plus);
  const std::size_t colon = method.find(':');
  const std::string_view algorithm =
      colon == std::string_view::npos ? "auto" : method.substr(colon + 1);
  MethodPlan plan{.name = std::string(name),
                  .method = sync::parse_method(method.substr(0, colon), algorithm),
                  .compress = {}};
  if (plus == std::string_view::npos) return plan;
  plan.compress = std::string(name.substr(plus + 1));
  compress::parse(plan.compress);  // throws for an unknown name
  if (plan.method.sync != "ddp")
    throw UsageError(fmt::format("'{}': only ddp supports compression", name));
  return plan;
}

std::vector<Exchange> exchanges_of(const MethodPlan& plan, const RecordedRun& run,
                                   const RecordedWorld& world) {
  if (world.size == 1) return {};
  const std::string& sync = plan.method.sync;
  const double parameters = static_cast<double>(run.gradients.size());
  if (sync == "ddp") return ddp(plan, run, world);
  if (sync == "sharded") return sharded(plan, run, world);
  if (sync == "all-reduce") return all_reduce(plan, run);
  if (sync == "gather-scatter") return gather_scatter(run, world);
  if (sync == "local-sgd") return local_sgd(plan, run);
  if (sync == "p2p") return through_one(run, world, 2 * parameters, 1);
  if (sync == "coordinator") return through_one(run, world, 2, 1);
  return through_one(run, world, 3, std::min(plan.servers, world.size));  // server
}

double update_fraction(const MethodPlan& plan, const RecordedWorld& world) {
  return plan.method.sync == "sharded" ? 1.0 / world.size : 1;
}

}  // namespace lockstep::internal::predict
