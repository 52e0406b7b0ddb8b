// Whether all ranks of a run were given the same job. Whoever starts them by hand, or from a script
// on each host, may give one of them another seed, another batch or another copy of the data: the
// run would end well, and its results would be wrong.
#pragma once

#include <lockstep/group.h>

#include "launch/elastic/elastic_membership.h"
#include "train/config/config.h"
#include "train/config/dataset.h"

namespace lockstep::internal::train {

/// A collective. Throws MismatchError, the same on all ranks, unless all were given the same
/// options: it names the first that differs, as config.json calls it, and the ranks. The ranks'
/// versions of Lockstep were compared when the group was made.
void require_same_options(Group& group, const TrainConfig& config);

/// A collective. Opens the data, and throws MismatchError, the same on all ranks, unless all have
/// the same images and labels. One pass over them where there are several ranks.
Dataset open_same_dataset(Group& group, const TrainConfig& config);

/// The same of a run whose group may change, where there may be no group yet: options and data are
/// compared with those of the first worker that came to the rendezvous. Who is to join and differs
/// gets a UsageError, and the others do not notice; a worker that the run begins with ends it.
Dataset open_same_job(launch::ElasticMembership& membership, const TrainConfig& config);

}  // namespace lockstep::internal::train
