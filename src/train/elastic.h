// Elastic: a run that goes on without workers that it loses, and lets others join. When its group
// breaks, a worker takes along what it knows, the workers that are left form a new group (see
// launch/muster.h), those that are behind get what the furthest knows, and all repeat the step that
// was not finished.
//
// A step is done for a worker from the moment that it knows all ranks' gradients, records and
// batch-norm statistics; the update after that is its own and cannot fail. So after a loss some
// workers may have done one step more than others, never two, and each has either all of a step or
// nothing of it.
#pragma once

#include <lockstep/group.h>

#include "launch/muster.h"
#include "train/checkpoint.h"
#include "train/dataset.h"
#include "train/ledger.h"
#include "train/worker.h"

#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace lockstep::train {

/// What a worker knows of the run, whichever group it is in.
struct Carried {
  Checkpoint checkpoint;  ///< of its newest step: what comes after the step is yet to be done
  std::deque<Row> rows;   ///< the newest iterations, oldest first: see Ledger
};

/// A worker's part of an elastic run, from one group to the next.
struct Elastic {
  std::optional<Carried> carried;       ///< nothing before its first group trains
  bool trained = false;                 ///< in some group, rather than been let in only
  std::vector<int> members{};           ///< the workers' numbers, by rank in the group
  std::string change;                   ///< what has happened to the group since; empty for nothing
  std::function<bool()> someone_waits;  ///< to be let in: asked on rank 0
  std::function<void()> done;           ///< all results are written
  std::optional<Dataset> dataset{};     ///< that the workers have compared; none: open it
};

/// All ranks are to go on in another group, after the step that all have done.
class RegroupError : public Error {
 public:
  using Error::Error;
};

/// Makes what each rank knows what the furthest does. A collective; if it throws, what a rank knows
/// is what it was, or that.
void bring_to_newest(Group& group, const TrainConfig& config, std::optional<Carried>& carried);

/// What is left is worth keeping: writes it to the run folder, for --resume. Returns what to add to
/// a message that says why; empty if there is nothing to keep, or no folder.
std::string keep_carried(const TrainConfig& config, const std::optional<Carried>& carried);

/// Trains as one worker of the run, in one group after another. Like train_worker() otherwise; the
/// lowest of the workers that are left does what rank 0 does. Throws launch::TooFewError below
/// config.min_workers, after a checkpoint of what was learnt if there is a run folder.
Summary train_elastic(launch::Muster& muster, const TrainConfig& config, Progress& progress,
                      const StopAsked& stop_asked = {});

}  // namespace lockstep::train
