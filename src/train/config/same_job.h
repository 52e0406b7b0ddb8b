// Checks that all ranks of a run have the same job. If ranks are started by hand, or by a script on
// each host, one of them may have another seed, batch size or copy of the data. The run would end
// without an error and with wrong results.
#pragma once

#include <lockstep/group.h>

#include "launch/elastic/elastic_membership.h"
#include "train/config/config.h"
#include "train/config/dataset.h"

namespace lockstep::internal::train {

/// A collective. Throws MismatchError, the same on all ranks, unless all have the same options. The
/// error names the first option that differs, as config.json does, and the ranks. Versions of
/// Lockstep were compared when the group was made.
void require_same_options(Group& group, const TrainConfig& config);

/// A collective. Opens the data. Throws MismatchError, the same on all ranks, unless all have the
/// same images and labels. With several ranks it reads all data once.
Dataset open_same_dataset(Group& group, const TrainConfig& config);

/// Both checks for an elastic run, which may have no group yet: compares options and data with
/// those of the first worker at the rendezvous. A joining worker that differs gets a UsageError,
/// and the others continue; an initial worker that differs ends the run.
Dataset open_same_job(launch::ElasticMembership& membership, const TrainConfig& config);

}  // namespace lockstep::internal::train
