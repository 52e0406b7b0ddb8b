// The statistics of a summary, from what its ranks measured.
#pragma once

#include "run/record.h"
#include "run/summary.h"

#include <vector>

namespace lockstep::internal::train {

/// The loss of an epoch over all ranks: each iteration's along a tree, then one after another, so
/// that with shards it is the same on any number of workers.
double loss_sum_of(const std::vector<std::vector<run::Record>>& ranks);

/// Fills in scores from the records of the last epoch, and all other statistics from `records`;
/// both by rank, in order of iterations. A resumed run has only `records` since it resumed, but the
/// whole last epoch, which may include ranks that it no longer has. REQUIRES: `last_epoch` has
/// every rank of `records`.
void summarise(const std::vector<std::vector<run::Record>>& records,
               const std::vector<std::vector<run::Record>>& last_epoch, run::Summary& summary);

}  // namespace lockstep::internal::train
