// A process's place in a run started by Slurm's srun.
#pragma once

#include "launch/environment/environment.h"

#include <optional>
#include <string>

namespace lockstep::internal::launch {

/// Reads SLURM_PROCID, SLURM_STEP_NUM_TASKS (or SLURM_NTASKS) and the step's list of nodes. Rank 0,
/// on the first node, serves the rendezvous, at a port derived from the job's number so that two
/// jobs on one node do not collide; MASTER_ADDR and MASTER_PORT have precedence. Empty outside a
/// step: neither salloc's shell nor a batch script is a rank of a run.
std::optional<Place> slurm_place(const Variables& variables);

/// The first host of a Slurm node list: "node[03-05,07],other2" → "node03". Throws UsageError for
/// an invalid list.
std::string first_host(const std::string& nodes);

/// The number of tasks on node `index`, from "2(x3),1": 2 on nodes 0 to 2, 1 on node 3. Empty if
/// the text does not cover the node.
std::optional<int> tasks_on_node(const std::string& text, int index);

}  // namespace lockstep::internal::launch
