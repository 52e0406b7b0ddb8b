// RunState: everything that a worker of an elastic run knows about the run. It survives the group
// that the worker trained in: after a worker is lost or joins, the remaining workers form a new
// group (see launch/elastic/elastic_membership.h), the worker that is furthest broadcasts its
// state, and all workers repeat the step that was not finished.
//
// A step is done for a worker as soon as it has the gradients, records and batch-norm statistics of
// all ranks; the update after that is local and cannot fail. So after a loss some workers may be
// one step ahead of others, never two, and each worker has either all of a step or nothing of it.
#pragma once

#include <lockstep/group.h>

#include "train/checkpoint/checkpoint.h"
#include "train/elastic/replicated_recorder.h"

#include <deque>
#include <optional>
#include <string>

namespace lockstep::internal::train {

struct RunState {
  Checkpoint checkpoint;  ///< after the worker's newest step; the work after that step is still due
  std::deque<Row> rows;   ///< records of the newest iterations, oldest first: ReplicatedRecorder
};

/// How messages name a state that came from another worker's memory.
inline constexpr const char* kRunStateSource = "the state in another worker's memory";

/// Gives every rank the state of the rank that is furthest. A collective; if it throws, each rank
/// has either its old state or the newest one.
void broadcast_newest_state(Group& group, const TrainConfig& config,
                            std::optional<RunState>& state);

/// Writes the state to the run folder, for --resume. Returns a sentence for the user that says so,
/// or why it failed; empty if there is no state or no run folder.
std::string save_run_state(const TrainConfig& config, const std::optional<RunState>& state);

}  // namespace lockstep::internal::train
