// The exchanges of a sync method in an iteration, and their times: by the rules of src/sync, for
// the gradients of a recorded run.
#pragma once

#include "predict/closed_forms.h"
#include "predict/recorded_run.h"
#include "sync/sync_method.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::predict {

/// A sync method with its options.
struct MethodPlan {
  std::string name;  ///< for example "ddp+float16"
  sync::Method method;
  std::string compress;
  double bucket_bytes = 25 << 20;
  double first_bucket_bytes = 1 << 20;
  int local_steps = 4;
  int servers = 1;

  /// Whether it cuts gradients into buckets.
  bool in_buckets() const { return method.sync == "ddp" || method.sync == "sharded"; }
};

/// "ring", "ddp", "ddp:tree", "ddp+float16", "ddp:ring+float16". Throws UsageError.
MethodPlan parse_method_plan(std::string_view name);

/// A step of a rank's communication thread; steps run one after another.
struct Exchange {
  double ready = 0;                        ///< seconds into backward at which it can start
  std::optional<Collective> collective{};  ///< if it is a collective
  Cost work{};                             ///< additional cost
  bool after_update = false;               ///< starts after the update of the weights
  double frequency = 1;                    ///< fraction of the iterations that have it
};

/// All exchanges in order. Empty for one worker. Throws UsageError for an unsupported algorithm.
std::vector<Exchange> exchanges_of(const MethodPlan& plan, const RecordedRun& run,
                                   const comm::RecordedWorld& world);

/// The fraction of the optimizer's work that a rank does.
double update_fraction(const MethodPlan& plan, const comm::RecordedWorld& world);

}  // namespace lockstep::internal::predict
