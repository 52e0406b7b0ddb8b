// What a sync method exchanges in an iteration, and when: by the rules of src/sync, on a recorded
// run's gradients.
#pragma once

#include "predict/closed_forms.h"
#include "predict/recorded_run.h"
#include "sync/sync_method.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::predict {

/// A sync method with its options.
struct MethodPlan {
  std::string name;  ///< "ddp+float16"
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

/// One thing after another on every rank's communication thread.
struct Exchange {
  double ready = 0;                        ///< seconds into backward from which on it can start
  std::optional<Collective> collective{};  ///< if it is one
  Cost work{};                             ///< what else it takes
  bool after_update = false;               ///< starts only when the weights are updated
  double share = 1;                        ///< of all iterations that have it
};

/// In their order. Empty for one worker. Throws UsageError for an algorithm that there is not.
std::vector<Exchange> exchanges_of(const MethodPlan& plan, const RecordedRun& run,
                                   const comm::RecordedWorld& world);

/// The share of the optimizer's work that a rank does.
double update_share(const MethodPlan& plan, const comm::RecordedWorld& world);

}  // namespace lockstep::predict
